// annulus add-class, add-examples, remove-class: update a model without training it again.
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/update/class_update.h"
#include "annulus/learn/update/new_examples.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/store/models/model_file.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/predict/predict_input.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

enum class Change { kAddClass, kAddExamples, kRemoveClass };

struct UpdateCommand {
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

// All images are of the class named.
NewExamples load_examples(const UpdateCommand& command, const Model& model, ProgressBar& bar) {
  const FeatureSet set = load_prediction_input(command.input, model, command.model, command.run.threads, bar);
  return examples_of_class(set, {command.names.front(), command.picked, !is_feature_file(command.input)});
}

double fraction(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::ordered_json update_json(const UpdateCommand& command, const std::string& output, const ModelUpdate& update) {
  const UpdateReport& report = update.report;
  nlohmann::ordered_json json = {{"model", output},
                                 {"names", command.names},
                                 {"classes", update.model.class_names.size()},
                                 {"examples", update.model.support.rows()},
                                 {"old_examples", report.old_examples},
                                 {"old_examples_checked", report.checked},
                                 {"old_examples_changed", report.changed},
                                 {"old_accuracy_before", fraction(report.right_before, report.checked)},
                                 {"old_accuracy_after", fraction(report.right_after, report.checked)},
                                 {"seconds", report.seconds}};
  if (command.change != Change::kRemoveClass) {
    json["examples_given"] = report.examples_given;
    json["examples_learnt"] = report.examples_learnt;
    json["examples_learnt_correct"] = report.examples_learnt_correct;
    json["most_alike"] = {{"name", report.most_alike}, {"cosine", report.alike_cosine}};
  }
  json["changed_classes"] = nlohmann::ordered_json::array();
  for (const ClassChange& change : report.classes) {
    json["changed_classes"].push_back({{"name", change.name},
                                       {"examples", change.examples},
                                       {"changed", change.changed},
                                       {"right_before", change.right_before},
                                       {"right_after", change.right_after}});
  }
  return json;
}

void print_class(const char* loses_or_gains, const ClassChange& change) {
  fmt::print("  {} {} most: {} of {} examples correct, {} before\n", change.name, loses_or_gains, change.right_after,
             change.examples, change.right_before);
}

void print_update(const UpdateCommand& command, const std::string& output, const ModelUpdate& update) {
  const UpdateReport& report = update.report;
  if (command.change == Change::kRemoveClass) {
    fmt::print("removed {}: {} classes left ({:.2f} s)\n", fmt::join(command.names, ", "),
               update.model.class_names.size(), report.seconds);
  } else {
    const std::string given = report.examples_learnt < report.examples_given
                                  ? fmt::format(" of the {}", report.examples_given)
                                  : std::string();
    fmt::print("learnt {}{} examples of {}, {} of them correct: {} classes ({:.2f} s)\n", report.examples_learnt, given,
               command.names.front(), report.examples_learnt_correct, update.model.class_names.size(), report.seconds);
    fmt::print("most similar: {} (cosine of the prototypes {:.2f})\n", report.most_alike, report.alike_cosine);
  }
  if (report.old_examples > 0) {
    fmt::print("examples learnt before: {} of {}{} change their prediction, {:.2f} % correct, {:.2f} % before\n",
               report.changed, report.checked,
               report.checked < report.old_examples ? fmt::format(" checked of {}", report.old_examples) : "",
               fraction(report.right_after, report.checked), fraction(report.right_before, report.checked));
  }
  if (!report.classes.empty()) {
    const ClassChange& worst = report.classes.front();
    const ClassChange& best = report.classes.back();
    if (worst.right_after < worst.right_before) print_class("loses", worst);
    if (best.right_after > best.right_before) print_class("gains", best);
  }
  fmt::print("wrote {}\n", output);
}

ModelUpdate update_model(const UpdateCommand& command, ProgressBar& bar) {
  Model model = read_model(command.model);
  const UpdateOptions options{command.run.threads};
  if (command.change == Change::kRemoveClass) return remove_classes(std::move(model), command.names, options);
  if (model.support.empty()) {
    fail(ErrorKind::kInput,
         "{}: expected a model with its training examples, found one without: fit it without --strip", command.model);
  }
  NewExamples examples = load_examples(command, model, bar);
  return command.change == Change::kAddClass
             ? add_class(std::move(model), std::move(examples), command.names.front(), options)
             : add_examples(std::move(model), std::move(examples), command.names.front(), options);
}

void run_update(const UpdateCommand& command) {
  if (command.output.empty() != command.in_place) {
    fail(ErrorKind::kUsage, "expected either -o FILE or --in-place to say where the model goes, found {}",
         command.in_place ? "both" : "neither");
  }
  const std::string& output = command.in_place ? command.model : command.output;
  ModelUpdate update;
  {
    ProgressBar bar(command.run.quiet);
    update = update_model(command, bar);
  }
  if (command.strip) strip(update.model);
  stop_if_interrupted();
  write_model(update.model, output);
  if (!command.json.empty()) write_json(command.json, update_json(command, output, update));
  if (!command.run.quiet && command.json != "-") print_update(command, output, update);
}

void register_subcommand(CLI::App& app, Action& action, Change change, const char* subcommand, const char* summary,
                         const char* example) {
  const auto options = std::make_shared<UpdateCommand>();
  options->change = change;
  const bool learns = change != Change::kRemoveClass;
  CLI::App& command = *app.add_subcommand(subcommand, summary);
  command.add_option("MODEL", options->model, "Model file written by fit")->required()->type_name("");
  if (learns) {
    command
        .add_option("INPUT", options->input.paths,
                    "Images and folders of images, all of the one class, or one feature file; -: standard input")
        ->required()
        ->type_name("");
  }
  CLI::Option* const name =
      command.add_option("--name", options->names, learns ? "Name of the class" : "Class to remove; may be repeated")
          ->required()
          ->type_name("NAME");
  if (learns) {
    name->expected(1)->take_last();
  } else {
    name->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  command.add_option("-o,--output", options->output, "Model file to write (.safetensors)")->type_name("FILE");
  command.add_flag("--in-place", options->in_place, "Replace MODEL");
  command.add_flag(
      "--strip", options->strip,
      "Leave the training examples out of the model: smaller, but it can neither be updated again nor explain");
  if (learns) {
    command
        .add_option("--class", options->picked,
                    "Class of a labelled feature file to take examples of; default: that of --name")
        ->type_name("NAME");
    command.add_option("--labels", options->input.labels, "Labels of a feature file that has none")->type_name("FILE");
  }
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write what changed for every class as JSON (without FILE: to standard output)");
  if (learns) add_encoder_options(command, options->input.encoder, "what the model was trained with");
  add_example(command, example);
  command.callback([options, &action] { action = [options] { run_update(*options); }; });
}

}  // namespace

void add_update(CLI::App& app, Action& action) {
  register_subcommand(app, action, Change::kAddClass, "add-class", "Add a class to a model, without training it again",
                      "  annulus add-class birds.safetensors robin/ --name robin -o more-birds.safetensors");
  register_subcommand(app, action, Change::kAddExamples, "add-examples",
                      "Add examples to a class of a model, without training it again",
                      "  annulus add-examples birds.safetensors more-robins/ --name robin --in-place");
  register_subcommand(app, action, Change::kRemoveClass, "remove-class", "Remove classes from a model",
                      "  annulus remove-class birds.safetensors --name robin --name wren -o fewer-birds.safetensors");
}

}  // namespace annulus::cli
