// annulus label-next: which examples of a pool to label next.
#include "annulus/eval/pool/label_next.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/pool/pool_rows.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/pipeline/group_files.h"
#include "annulus/pipeline/pool_set.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/store/models/is_model_file.h"
#include "annulus/store/models/model_file.h"
#include "cli/command.h"
#include "cli/load_data.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct LabelNextCommand {
  std::vector<std::string> inputs;  // what is known, if anything, and the pool
  std::string labels;
  EncoderOptions encoder;
  LabelNextOptions choice;
  double false_reject = kFalseReject;
  std::string page;
  std::string lines;
  std::string table;
  std::string json;
  RunOptions run;
};

// The pool, and what is known of it.
struct Inputs {
  FeatureSet pool;
  PoolKnowledge knowledge;
  std::vector<std::string> class_names;
};

Inputs with_model(const LabelNextCommand& options, ProgressBar& bar) {
  const std::string& file = options.inputs.front();
  const Model model = read_model(file);
  LoadOptions loading = load_options({{}, {}, options.encoder}, options.run.threads, bar);
  const std::vector<std::string> pool{options.inputs.back()};
  Inputs inputs{load_prediction_set(pool, model, file, loading), {}, model.class_names};
  if (model.support.empty()) {
    bar.note(fmt::format("{} keeps no training examples: what is labelled already is not known here", file));
  }
  const Matrix<float> rows = features_of(inputs.pool);
  inputs.knowledge = knowledge_of(model, rows.view(), options.false_reject, options.run.threads);
  return inputs;
}

Inputs with_examples(const LabelNextCommand& options, ProgressBar& bar) {
  const LoadOptions loading = load_options({{}, {}, options.encoder}, options.run.threads, bar);
  Inputs inputs;
  if (options.inputs.size() == 2) {
    const FeatureSet labelled =
        load_data({options.inputs.front(), options.labels, options.encoder}, options.run.threads, bar);
    if (!labelled.labelled()) {
      fail(ErrorKind::kInput, "{}: expected labelled examples or a model, found examples without labels",
           labelled.source());
    }
    inputs.pool = load_pool(options.inputs.back(), loading);
    check_same_features(inputs.pool, labelled);
    inputs.knowledge.features = features_of(labelled);
    inputs.knowledge.labels.assign(labelled.labels().begin(), labelled.labels().end());
    inputs.class_names.assign(labelled.class_names().begin(), labelled.class_names().end());
  } else {
    inputs.pool = load_pool(options.inputs.back(), loading);
  }
  return inputs;
}

void run_label_next(const LabelNextCommand& options) {
  check_false_reject(options.false_reject);
  LabelSheet sheet;
  {
    ProgressBar bar(options.run.quiet);
    const bool model = options.inputs.size() == 2 && is_model_file(options.inputs.front());
    const Inputs inputs = model ? with_model(options, bar) : with_examples(options, bar);
    LabelNextOptions choice = options.choice;
    choice.threads = options.run.threads;
    sheet.choices = label_next(features_of(inputs.pool), inputs.pool.paths(), inputs.knowledge, choice, bar.callback());
    sheet.source = options.inputs.back();
    sheet.examples = inputs.pool.rows();
    sheet.labelled = inputs.knowledge.labels.size();
    sheet.paths.assign(inputs.pool.paths().begin(), inputs.pool.paths().end());
    sheet.class_names = inputs.class_names;
    sheet.images = holds_images(options.inputs.back());
    if (!options.page.empty()) write_label_next_page(sheet, options.page, bar.callback());
  }
  stop_if_interrupted();
  if (!options.lines.empty()) write_output(options.lines, label_next_json_lines(sheet));
  if (!options.table.empty()) write_output(options.table, label_next_csv(sheet));
  if (!options.json.empty()) write_json(options.json, label_next_json(sheet));
  if (options.run.quiet || options.json == "-" || options.lines == "-" || options.table == "-") return;
  fmt::print("{}", label_next_text(sheet));
  if (!options.page.empty()) fmt::print("wrote {}\n", options.page);
}

}  // namespace

void add_label_next(CLI::App& app, Action& action) {
  const auto options = std::make_shared<LabelNextCommand>();
  CLI::App& command = *app.add_subcommand("label-next", "Say which unlabelled images or features to label next");
  command
      .add_option("INPUT", options->inputs,
                  "[MODEL|LABELLED] POOL: what is labelled already (a model, a folder with one folder per class, or a "
                  "labelled feature file; nothing to begin with), and the images or features to choose from")
      ->required()
      ->expected(1, 2)
      ->type_name("");
  command.add_option("-n,--count", options->choice.count, "How many to choose")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command
      .add_option("--new-classes", options->choice.new_class_fraction,
                  "Fraction of them at most that goes to examples which resemble no class of a model")
      ->type_name("FRACTION")
      ->capture_default_str();
  command
      .add_option("--false-reject", options->false_reject,
                  "False-rejection rate at which an example resembles no class of a model")
      ->type_name("RATE")
      ->capture_default_str();
  command.add_option("--html", options->page, "Write a contact sheet, with thumbnails of images")->type_name("FILE");
  command.add_option("--jsonl", options->lines, "Write every choice, one per line; -: standard output")
      ->type_name("FILE");
  command.add_option("--csv", options->table, "Write the choices as a table; -: standard output")->type_name("FILE");
  command
      .add_option("--labels", options->labels,
                  "Labels of a labelled feature file that has none: .npy, or text with one per line")
      ->type_name("FILE");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write the choices as JSON (without FILE: to standard output)");
  add_encoder_options(command, options->encoder, "what the model was trained with, else auto");
  add_example(command,
              "  annulus label-next photos/ -n 20 --html next.html\n"
              "  annulus label-next birds.safetensors photos/ -n 20 --csv next.csv");
  command.callback([options, &action] { action = [options] { run_label_next(*options); }; });
}

}  // namespace annulus::cli
