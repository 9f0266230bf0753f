// annulus add-class, add-examples, remove-class: change what a model knows without training it anew.
#include "annulus/learn/grow.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/image_folder.h"
#include "annulus/store/model_file.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/interrupt.h"
#include "cli/predict_input.h"
#include "cli/progress_bar.h"

namespace annulus::cli {
namespace {

enum class Change { kAddClass, kAddExamples, kRemoveClass };

struct GrowCommand {
  Change change = Change::kAddClass;
  std::string model;
  PredictInput input;
  std::vector<std::string> names;  // one, or several to be removed
  std::string picked;              // class of a feature file whose rows are taken; empty: the one of that name
  std::string output;
  std::string json;
  bool in_place = false;
  bool strip = false;
  RunOptions run;
};

bool is_feature_file(const PredictInput& input) {
  return input.paths.size() == 1 && input.paths.front() != "-" && !holds_images(input.paths.front());
}

// The class of a labelled feature file that rows are taken of.
std::int32_t picked_class(const GrowCommand& command, const FeatureSet& set) {
  const std::string& wanted = command.picked.empty() ? command.names.front() : command.picked;
  const auto names = set.class_names();
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return static_cast<std::int32_t>(found - names.begin());
  if (command.picked.empty() && names.size() == 1) return 0;
  fail(ErrorKind::kInput, "{}: expected rows of the class \"{}\", found {} classes without it{}", set.source(), wanted,
       names.size(), command.picked.empty() ? ": choose one with --class" : "");
}

// All images are of the class named; of a labelled feature file the rows of one class, test rows left out.
std::vector<std::uint32_t> chosen_rows(const GrowCommand& command, const FeatureSet& set) {
  const bool by_label = set.labelled() && is_feature_file(command.input);
  if (!by_label && !command.picked.empty()) {
    fail(ErrorKind::kUsage, "--class picks rows of a labelled feature file, found {}, which is none", set.source());
  }
  const std::int32_t wanted = by_label ? picked_class(command, set) : -1;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (by_label && (set.labels()[i] != wanted || (!set.is_train().empty() && set.is_train()[i] == 0))) continue;
    rows.push_back(i);
  }
  if (rows.empty()) fail(ErrorKind::kInput, "{}: expected rows to learn from, found none", set.source());
  return rows;
}

NewRows load_rows(const GrowCommand& command, const Model& model, ProgressBar& bar) {
  const FeatureSet set = load_prediction_input(command.input, model, command.model, command.run.threads, bar);
  const std::vector<std::uint32_t> chosen = chosen_rows(command, set);
  NewRows rows{Matrix<float>(chosen.size(), set.dimension()), paths_of(set, chosen)};
  set.copy_rows(chosen, rows.features.view());
  return rows;
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::ordered_json growth_json(const GrowCommand& command, const std::string& output, const Growth& growth) {
  const GrowthReport& report = growth.report;
  nlohmann::ordered_json json = {{"model", output},
                                 {"names", command.names},
                                 {"classes", growth.model.class_names.size()},
                                 {"rows", growth.model.support.rows()},
                                 {"old_rows", report.old_rows},
                                 {"old_rows_asked", report.asked},
                                 {"old_rows_changed", report.changed},
                                 {"old_accuracy_before", share(report.right_before, report.asked)},
                                 {"old_accuracy_after", share(report.right_after, report.asked)},
                                 {"seconds", report.seconds}};
  if (command.change != Change::kRemoveClass) {
    json["given_rows"] = report.given_rows;
    json["new_rows"] = report.new_rows;
    json["new_rows_right"] = report.new_right;
    json["most_alike"] = {{"name", report.most_alike}, {"cosine", report.alike_cosine}};
  }
  json["changed_classes"] = nlohmann::ordered_json::array();
  for (const ClassChange& change : report.classes) {
    json["changed_classes"].push_back({{"name", change.name},
                                       {"rows", change.rows},
                                       {"changed", change.changed},
                                       {"right_before", change.right_before},
                                       {"right_after", change.right_after}});
  }
  return json;
}

void print_class(const char* verb, const ClassChange& change) {
  fmt::print("  {} {} most: {} of {} rows right, {} before\n", change.name, verb, change.right_after, change.rows,
             change.right_before);
}

void print_growth(const GrowCommand& command, const std::string& output, const Growth& growth) {
  const GrowthReport& report = growth.report;
  if (command.change == Change::kRemoveClass) {
    fmt::print("removed {}: {} classes left ({:.2f} s)\n", fmt::join(command.names, ", "),
               growth.model.class_names.size(), report.seconds);
  } else {
    const std::string given =
        report.new_rows < report.given_rows ? fmt::format(" of the {}", report.given_rows) : std::string();
    fmt::print("learnt {}{} rows of {}, {} of them right: {} classes ({:.2f} s)\n", report.new_rows, given,
               command.names.front(), report.new_right, growth.model.class_names.size(), report.seconds);
    fmt::print("most alike: {} (cosine of the means {:.2f})\n", report.most_alike, report.alike_cosine);
  }
  if (report.old_rows > 0) {
    fmt::print("rows learnt before: {} of {}{} are named otherwise, {:.2f} % right, {:.2f} % before\n", report.changed,
               report.asked, report.asked < report.old_rows ? fmt::format(" asked of {}", report.old_rows) : "",
               share(report.right_after, report.asked), share(report.right_before, report.asked));
  }
  if (!report.classes.empty()) {
    const ClassChange& worst = report.classes.front();
    const ClassChange& best = report.classes.back();
    if (worst.right_after < worst.right_before) print_class("loses", worst);
    if (best.right_after > best.right_before) print_class("gains", best);
  }
  fmt::print("wrote {}\n", output);
}

Growth grow(const GrowCommand& command, ProgressBar& bar) {
  Model model = read_model(command.model);
  const GrowOptions options{command.run.threads};
  if (command.change == Change::kRemoveClass) return remove_classes(std::move(model), command.names, options);
  if (model.support.empty()) {
    fail(ErrorKind::kInput, "{}: expected a model with its training rows, found one without: fit it without --strip",
         command.model);
  }
  NewRows rows = load_rows(command, model, bar);
  return command.change == Change::kAddClass
             ? add_class(std::move(model), std::move(rows), command.names.front(), options)
             : add_examples(std::move(model), std::move(rows), command.names.front(), options);
}

void run_grow(const GrowCommand& command) {
  if (command.output.empty() != command.in_place) {
    fail(ErrorKind::kUsage, "expected either -o FILE or --in-place to say where the model goes, found {}",
         command.in_place ? "both" : "neither");
  }
  const std::string& output = command.in_place ? command.model : command.output;
  Growth growth;
  {
    ProgressBar bar(command.run.quiet);
    growth = grow(command, bar);
  }
  if (command.strip) strip(growth.model);
  stop_if_interrupted();
  write_model(growth.model, output);
  if (!command.json.empty()) write_json(command.json, growth_json(command, output, growth));
  if (!command.run.quiet && command.json != "-") print_growth(command, output, growth);
}

void add_verb(CLI::App& app, Action& action, Change change, const char* verb, const char* summary,
              const char* example) {
  const auto options = std::make_shared<GrowCommand>();
  options->change = change;
  const bool learns = change != Change::kRemoveClass;
  CLI::App& command = *app.add_subcommand(verb, summary);
  command.add_option("MODEL", options->model, "Model file written by fit")->required()->type_name("");
  if (learns) {
    command
        .add_option("INPUT", options->input.paths,
                    "Images and folders of images, all of the one class, or one feature file; -: standard input")
        ->required()
        ->type_name("");
  }
  CLI::Option* const name = command.add_option("--name", options->names, learns ? "The class" : "Class to take out")
                                ->required()
                                ->type_name("NAME");
  if (learns) {
    name->expected(1)->take_last();
  } else {
    name->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  command.add_option("-o,--output", options->output, "Model file to write (.safetensors)")->type_name("FILE");
  command.add_flag("--in-place", options->in_place, "Replace MODEL, whole or not at all");
  command.add_flag("--strip", options->strip,
                   "Leave the training rows out of the model: smaller, but it can neither grow again nor explain");
  if (learns) {
    command
        .add_option("--class", options->picked,
                    "Take the rows of this class of a labelled feature file; default: the class of that name")
        ->type_name("NAME");
    command.add_option("--labels", options->input.labels, "Labels of a feature file that has none")->type_name("FILE");
  }
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write what changed for every class as JSON (without FILE: to standard output)");
  if (learns) add_encoder_options(command, options->input.encoder, "what the model was trained with");
  add_example(command, example);
  command.callback([options, &action] { action = [options] { run_grow(*options); }; });
}

}  // namespace

void add_grow(CLI::App& app, Action& action) {
  add_verb(app, action, Change::kAddClass, "add-class", "Teach a model one more class",
           "  annulus add-class birds.safetensors robin/ --name robin -o more-birds.safetensors");
  add_verb(app, action, Change::kAddExamples, "add-examples", "Teach a model more rows of a class it has",
           "  annulus add-examples birds.safetensors more-robins/ --name robin --in-place");
  add_verb(app, action, Change::kRemoveClass, "remove-class", "Take classes out of a model",
           "  annulus remove-class birds.safetensors --name robin --name wren -o fewer-birds.safetensors");
}

}  // namespace annulus::cli
