// annulus demo-generated: the whole way from features to predictions on generated data, with nothing to download.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "annulus/eval/protocols/many_way.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/ranking.h"
#include "annulus/report/tables/protocol_report.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/models/model_file.h"
#include "annulus/task/few_shot_task.h"
#include "annulus/task/synthetic.h"
#include "cli/command.h"
#include "cli/demo/demo_model.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

constexpr std::size_t kShownRows = 5;

struct GeneratedDemoOptions {
  SyntheticOptions data;
  std::string features = "demo-features.safetensors";
  std::string model = "demo-model.safetensors";
  std::string json;
  RunOptions run;
};

ManyWayOptions demo_protocol(const GeneratedDemoOptions& options) {
  ManyWayOptions protocol;
  protocol.seed = options.run.seed;
  protocol.methods = {"ncm", "linear-svm", "baseline", "ibm2", "default"};
  protocol.recipe = recipe_named("ibm2");
  set_threads(protocol.recipe, options.run.threads);
  return protocol;
}

// The first test examples of the first classes, one of each.
std::string predict_some(const FeatureSet& set, const Model& model, int threads) {
  std::string text;
  const std::size_t rows_a_class = set.rows() / set.classes();
  for (std::size_t c = 0; c < std::min(kShownRows, set.classes()); ++c) {
    Matrix<float> row(1, set.dimension());
    Matrix<float> probabilities(1, model.head.classes());
    set.copy_rows((c + 1) * rows_a_class - 1, row.view());
    predict_probabilities(model.head, model.temperature, std::as_const(row).view(), probabilities.view(), threads);
    const auto ranked = most_probable(probabilities.row(0), 2);
    text += fmt::format("  a row of {}:", set.class_names()[c]);
    for (const RankedClass& entry : ranked) {
      text += fmt::format("  {} {:.1f} %", model.class_names[static_cast<std::size_t>(entry.index)],
                          100.0 * static_cast<double>(entry.probability));
    }
    text += "\n";
  }
  return text;
}

void run_demo(GeneratedDemoOptions options) {
  options.data.seed = options.run.seed;
  const bool talk = !options.run.quiet && options.json != "-";
  const FeatureSet set = make_synthetic(options.data);
  write_features(set, options.features);
  if (talk) {
    fmt::print("{} classes of {} + {} generated rows, features of {} dimensions: {}\n", set.classes(),
               options.data.train_rows, options.data.test_rows, set.dimension(), options.features);
    std::fflush(stdout);
  }
  const ManyWayOptions protocol = demo_protocol(options);
  const ManyWayReport report = [&] {
    ProgressBar bar(options.run.quiet);
    return evaluate_many_way(set, protocol, bar.callback());
  }();
  if (!options.json.empty()) {
    write_output(options.json, many_way_json(report, {options.features, options.features, protocol.seed,
                                                      protocol.split_count, describe(protocol.recipe)}));
  }
  if (options.json != "-") fmt::print("{}", many_way_table(report));
  std::fflush(stdout);
  const std::vector<std::uint32_t> support = draw_split(set, {5, options.run.seed}).support;
  Recipe recipe = recipe_named("default");
  set_threads(recipe, options.run.threads);
  const Model model = fit_demo_model(set, support, options.run.seed, std::move(recipe), options.run);
  stop_if_interrupted();
  write_model(model, options.model);
  if (!talk) return;
  fmt::print("model of 5 shots, epsilon {:.3f}: {}\n{}", model.epsilon, options.model,
             predict_some(set, model, options.run.threads));
  fmt::print("try: annulus predict {} {} --top 3\n", options.model, options.features);
}

}  // namespace

void add_demo_generated(CLI::App& app, Action& action) {
  const auto options = std::make_shared<GeneratedDemoOptions>();
  CLI::App& command = *app.add_subcommand("demo-generated",
                                          "Evaluate, fit and predict on generated features, with nothing to download");
  command.add_option("--ways", options->data.classes, "Classes to generate")->type_name("N")->capture_default_str();
  command.add_option("--dimension", options->data.dimension, "Dimensions of a feature")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--features", options->features, "Feature file to write")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_option("-o,--output", options->model, "Model file to write")->type_name("FILE")->capture_default_str();
  add_seed(command, options->run, "Seed of the generated features, the splits and the training");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write every run as JSON (without FILE: to standard output, instead of the table)");
  add_example(command, "  annulus demo-generated --ways 50 -o demo-model.safetensors");
  command.callback([options, &action] { action = [options] { run_demo(*options); }; });
}

}  // namespace annulus::cli
