// Writes the sections of a model card.
#include "annulus/pipeline/export/model_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "annulus/base/version.h"
#include "annulus/pipeline/backbones/backbone_catalogue.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/models/training_record_entries.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kMostListed = 50;  // classes that get a line of their own

std::string recorded(const std::map<std::string, std::string>& record, const std::string& key) {
  const auto found = record.find(key);
  return found == record.end() ? std::string() : found->second;
}

// A JSON string is a double-quoted string of YAML as well.
std::string yaml_text(const std::string& text) {
  const std::string list = to_json(std::vector<std::string>{text});
  return list.substr(1, list.size() - 2);
}

// Text that Markdown shows as it is, on one line and inside a table.
std::string plain(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_[]<>#|~&$";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\\\x{:02x}", static_cast<unsigned>(byte));
      continue;
    }
    if (kSpecial.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// Examples of each class that the model keeps; empty where it keeps none.
std::vector<std::size_t> kept_examples(const Model& model) {
  if (model.support.empty()) return {};
  return class_counts(model.support.labels, model.head.classes());
}

// A class of which a model keeps its most may have had more.
std::string count_text(std::size_t examples) {
  return examples >= kMostSupportExamples ? fmt::format("{} or more", examples) : fmt::format("{}", examples);
}

std::string front_matter(const Model& model) {
  const std::string backbone = recorded(model.provenance, "backbone");
  const std::string licence = recorded(model.provenance, "data_licence");
  std::string text = licence.empty()
                         ? "---\nlicense: unknown  # of the training data's owner; set it before you publish\n"
                         : fmt::format("---\nlicense: {}  # of the training data\n", yaml_text(licence));
  text += fmt::format("library_name: annulus\nlibrary_version: {}\n", yaml_text(kVersion));
  if (!backbone.empty()) text += "pipeline_tag: image-classification\n";
  text += "tags:\n  - few-shot\n  - annulus\n";
  if (!backbone.empty()) text += "  - image-classification\n";
  if (const auto virtual_examples = model.training.virtual_examples) {
    text += *virtual_examples ? "  - ibm2\n" : "  - baseline\n";
  }
  if (!backbone.empty()) text += fmt::format("backbone: {}\n", yaml_text(backbone));
  std::vector<std::string> licences;
  for (const BackboneEntry* entry : known_backbones_of(model.provenance)) licences.push_back(entry->licence);
  if (!licences.empty()) {
    text += fmt::format("backbone_license: {}\n", yaml_text(fmt::format("{}", fmt::join(licences, " + "))));
  }
  if (model.training.training_accuracy) text += "metrics:\n  - accuracy\n";
  return text + fmt::format("classes: {}\n", to_json(model.class_names)) + "---\n\n";
}

std::string introduction(const Model& model, const std::string& title) {
  std::string text = fmt::format("# {}\n\nTells {} classes apart by rows of {} features", plain(title),
                                 model.head.classes(), model.head.dimension());
  const std::string backbone = recorded(model.provenance, "backbone");
  if (!backbone.empty()) text += fmt::format(" that the frozen network {} makes of images", plain(backbone));
  const bool updated = model.training.updates.all() > 0;
  if (const auto examples = model.training.examples) {
    text += fmt::format(", learnt from {} labelled ones{}", *examples, updated ? " at first" : "");
  }
  text += ".";
  if (updated) {
    text += " Classes or examples were added or removed later, without a new fit";
    text += model.support.empty() ? "." : fmt::format(": it keeps {} examples now.", model.support.rows());
  }
  if (model.epsilon > 0.0) {
    text += fmt::format(
        " Trained by instance-based max-margin (IbM²) at the radius epsilon {:.4g}: virtual examples drawn that far "
        "around every training example were still told apart.",
        model.epsilon);
  } else {
    text += " Trained on the examples themselves, without virtual examples (epsilon 0).";
  }
  return text + "\n\n";
}

// Folders of the machine are private and left out.
std::string last_part(const std::filesystem::path& path) {
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

std::string data_section(const Model& model) {
  std::string text = "## Data\n\n";
  const std::string source = recorded(model.provenance, "source");
  if (!source.empty()) text += fmt::format("Learnt from {}. ", plain(last_part(source)));
  for (const auto& [key, value] : model.provenance) {
    if (key.ends_with("sha256") && key != "backbone_sha256") {
      text += fmt::format("{}: {}. ", plain(key), plain(value));
    }
  }
  const std::vector<std::size_t> counts = kept_examples(model);
  if (counts.empty()) {
    text += "The model keeps no training examples, so how many each class had is not known from it.\n\n";
  } else {
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    text += *least == *most ? fmt::format("Each class had {} examples.\n\n", count_text(*least))
                            : fmt::format("Classes had {} to {} examples.\n\n", *least, count_text(*most));
  }
  if (model.class_names.size() > kMostListed) {
    text += fmt::format("<details><summary>{} classes</summary>\n\nThey are ", model.class_names.size());
    for (std::size_t c = 0; c < model.class_names.size(); ++c) {
      text += fmt::format("{}{}", c == 0 ? "" : ", ", plain(model.class_names[c]));
    }
    return text + "\n\n</details>\n\n";
  }
  text += counts.empty() ? "| class |\n|---|\n" : "| class | examples |\n|---|---|\n";
  for (std::size_t c = 0; c < model.class_names.size(); ++c) {
    text += fmt::format("| {} |", plain(model.class_names[c]));
    text += counts.empty() ? "\n" : fmt::format(" {} |\n", count_text(counts[c]));
  }
  return text + "\n";
}

// The accuracy on examples held out with Wilson's 95 % interval; nothing where none is recorded.
std::string held_out_line(const Model& model) {
  const auto accuracy = model.training.held_out.accuracy;
  const std::size_t examples = model.training.held_out.examples.value_or(0);
  if (!accuracy || examples == 0) return "";
  constexpr double kQuantile = 1.959964;
  const double square = kQuantile * kQuantile / static_cast<double>(examples);
  const double middle = (*accuracy + square / 2.0) / (1.0 + square);
  const double half = std::sqrt(*accuracy * (1.0 - *accuracy) * square + square * square / 4.0) / (1.0 + square);
  return fmt::format("| {} training examples, each held out of a fit | {:.2f} % (95 % interval {:.1f} to {:.1f} %) |\n",
                     examples, 100.0 * *accuracy, 100.0 * (middle - half), 100.0 * (middle + half));
}

std::string accuracy_section(const Model& model) {
  struct Line {
    std::optional<double> accuracy;
    const char* meaning;
  };
  const TrainingRecord& record = model.training;
  const Line lines[] = {{record.training_accuracy, "the training examples themselves"},
                        {record.virtual_accuracy, "virtual examples drawn around them at the radius epsilon"},
                        {record.search.upper_accuracy, "training examples, before the search for the radius"}};
  std::string text = "## Accuracy\n\n";
  std::string table;
  for (const Line& line : lines) {
    if (line.accuracy) table += fmt::format("| {} | {:.2f} % |\n", line.meaning, 100.0 * *line.accuracy);
  }
  table += held_out_line(model);
  if (!table.empty()) text += "| measured on | accuracy |\n|---|---|\n" + table + "\n";
  if (const auto error = record.held_out.calibration_error) {
    return text +
           fmt::format(
               "Examples held out are classified by heads that were fitted without them, on fewer examples than this "
               "one; they come from the same source as the others. The expected calibration error of their "
               "probabilities "
               "was {:.2f} %. Both were measured when the model was fitted, not after later changes. Other sources "
               "are another matter: measure them with `annulus evaluate`.\n\n",
               100.0 * *error);
  }
  return text +
         "How often it is right about what it has not seen is not known: the record holds no accuracy on examples "
         "that were held out. Measure that with `annulus evaluate`, whose results come with 95 % intervals.\n\n";
}

// What becomes of inputs that belong to no class.
std::string unknown_line(const UnknownRule& rule) {
  if (rule.empty()) {
    return "- **Every input gets one of its classes**, also one that belongs to none: it has no rule about unknown "
           "inputs.\n";
  }
  std::string text =
      "- **Unknown inputs.** It can reject what resembles nothing it learnt, at a false-rejection rate of your choice. "
      "The rule comes from its own training examples";
  if (rule.caught.empty()) return text + "; how many unknown inputs it catches was not measured.\n";
  text += ", and so does this estimate: of inputs that are like none of its classes but of the same kind, it catches ";
  constexpr double kRates[] = {0.01, 0.05, 0.1, 0.2};
  for (const double rate : kRates) {
    text += fmt::format("{}about {:.0f} % at a rate of {:g} %", rate == kRates[0] ? "" : ", ",
                        100.0 * *unknown_catch_rate(rule, rate), 100.0 * rate);
  }
  return text + ". The others get one of its classes. Estimates are of the first fit and may be off by ten points; " +
         "inputs of another kind are caught more often.\n";
}

std::string limits_section(const Model& model) {
  std::string text = "## Limits\n\n";
  const std::vector<std::size_t> counts = kept_examples(model);
  if (!counts.empty()) {
    text += fmt::format(
        "- **Few examples.** The class with the fewest examples had {}: what those do not show (other light, other "
        "angles, "
        "other makers) it has never seen.\n",
        *std::min_element(counts.begin(), counts.end()));
  } else {
    text +=
        "- **Few examples.** It is made to learn from a handful of examples per class: what those did not show it has "
        "never "
        "seen.\n";
  }
  text += unknown_line(model.unknown);
  text +=
      "- **Not tested** on other sources of images than its own, on groups of people, on images made to deceive it, or "
      "for any use where a mistake does harm.\n"
      "- What the backbone never learnt to see, or learnt with a slant, no head can put right.\n";
  return text + "\n";
}

std::string use_section(const Model& model, const std::string& title) {
  const bool images = !recorded(model.provenance, "backbone_sha256").empty();
  std::string text = "## Use\n\n```sh\n";
  text += fmt::format("annulus predict MODEL.safetensors {}\n```\n\n", images ? "photo.jpg" : "features.npz");
  text += fmt::format("`MODEL.safetensors` stands for this model's file ({}). ", plain(title));
  const std::string preprocessing = recorded(model.provenance, "preprocessing");
  if (images && !preprocessing.empty()) {
    text += fmt::format("Images are prepared so: {}. ", plain(preprocessing));
  }
  return text +
         "`annulus export` writes it as an ONNX file, which runs in any ONNX Runtime and gives `label`, "
         "`probabilities` and `unknown_score`; its exact "
         "input "
         "is described in Annulus's docs/how-to/export.md.\n\n";
}

std::string licence_section(const Model& model) {
  const std::string backbone = recorded(model.provenance, "backbone");
  std::string text = "## Licences\n\n| part | licence |\n|---|---|\n";
  const std::vector<const BackboneEntry*> known = known_backbones_of(model.provenance);
  for (const BackboneEntry* entry : known) {
    text += fmt::format("| backbone {}: {}, trained on {}, from {} | {} |\n", plain(entry->name), plain(entry->network),
                        plain(training_text(*entry)), plain(entry->package.empty() ? entry->address : entry->package),
                        plain(entry->licence));
  }
  if (!backbone.empty() && known.empty()) {
    text += fmt::format("| backbone {} | not known to Annulus: ask whoever published it |\n", plain(backbone));
  } else if (!backbone.empty() &&
             static_cast<std::size_t>(std::count(backbone.begin(), backbone.end(), '+')) + 1 > known.size()) {
    text += fmt::format("| the other networks of {} | not known to Annulus: ask whoever published them |\n",
                        plain(backbone));
  }
  const std::string licence = recorded(model.provenance, "data_licence");
  text += fmt::format("| training data | {} |\n| Annulus itself | Apache-2.0 |\n\n",
                      licence.empty() ? "not recorded: ask its owner" : plain(licence));
  if (const std::string sum = recorded(model.provenance, "backbone_sha256"); !sum.empty()) {
    text += fmt::format("The backbone's file has the SHA-256 {}.\n\n", plain(sum));
  }
  return text;
}

std::string record_section(const Model& model) {
  std::string text = "## Record of the training\n\n| name | value |\n|---|---|\n";
  text += fmt::format("| epsilon | {} |\n", plain(fmt::format("{}", model.epsilon)));
  text += fmt::format("| temperature | {} |\n", plain(fmt::format("{}", model.temperature)));
  for (const auto& [name, value] : record_entries(model.training)) {
    const std::string shown = std::visit([](const auto& inner) { return fmt::format("{}", inner); }, value);
    text += fmt::format("| {} | {} |\n", plain(name), plain(shown));
  }
  return text;
}

}  // namespace

std::string model_card(const Model& model, const std::string& title) {
  return front_matter(model) + introduction(model, title) + data_section(model) + accuracy_section(model) +
         limits_section(model) + use_section(model, title) + licence_section(model) + record_section(model);
}

}  // namespace annulus
