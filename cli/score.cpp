// annulus score: how well a model does on labelled images or features.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "annulus/eval/score/score_set.h"
#include "annulus/pipeline/load.h"
#include "annulus/pipeline/score_files.h"
#include "annulus/report/documents/score_json.h"
#include "annulus/report/tables/score_tables.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/store/models/model_file.h"
#include "cli/command.h"
#include "cli/load_data.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct ScoreCommand {
  std::string model;
  DataOptions data;
  std::string folder;  // empty: no report
  std::string json;
  double false_reject = kFalseReject;
  RunOptions run;
};

void run_score(const ScoreCommand& options) {
  check_false_reject(options.false_reject);
  if (!options.folder.empty()) check_score_folder(options.folder);
  ScoreReport scored;
  std::string page;
  {
    ProgressBar bar(options.run.quiet);
    const Model model = read_model(options.model);
    const FeatureSet set =
        load_scoring_set(options.data.path, model, options.model, load_options(options.data, options.run.threads, bar));
    scored = score_set(model, set, {options.false_reject, options.run.threads}, bar.callback());
    stop_if_interrupted();
    if (!options.folder.empty()) {
      page = write_score(scored, options.folder, holds_images(options.data.path), bar.callback()).string();
    }
  }
  if (!options.json.empty()) write_json(options.json, score_json(scored));
  if (options.run.quiet || options.json == "-") return;
  fmt::print("{}", score_text(scored));
  if (!page.empty()) fmt::print("wrote {}\n", page);
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ScoreCommand>();
  CLI::App& command = *app.add_subcommand("score", "Score a model on labelled images or features");
  command.add_option("MODEL", options->model, "Model file written by fit")->required()->type_name("");
  command.add_option("DATA", options->data.path, "Folder of images with one folder per class, or a feature file")
      ->required()
      ->type_name("");
  command
      .add_option("-o,--output", options->folder,
                  "Folder to write report.html, predictions.csv, confusion.csv and classes.csv to")
      ->type_name("DIR");
  command
      .add_option("--false-reject", options->false_reject,
                  "False-rejection rate at which examples are marked as rejected; the curve has other rates too")
      ->type_name("RATE")
      ->capture_default_str();
  add_labels(command, options->data);
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write the score as JSON (without FILE: to standard output)");
  add_encoder_options(command, options->data.encoder, "what the model was trained with");
  add_list(command, options->data.list);
  add_boxes(command, options->data.boxes, options->data.encoder);
  add_frames(command, options->data.frames);
  add_example(command,
              "  annulus score model.safetensors test-photos/ -o report\n"
              "  annulus score model.safetensors features.safetensors --json score.json");
  command.callback([options, &action] { action = [options] { run_score(*options); }; });
}

}  // namespace annulus::cli
