// annulus demo: emoji of design houses never seen, recognised from the drawings of a few others.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/many_way.h"
#include "annulus/eval/report.h"
#include "annulus/learn/model.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/ranking.h"
#include "annulus/store/emoji.h"
#include "annulus/store/image_folder.h"
#include "annulus/store/model_file.h"
#include "annulus/store/report_files.h"
#include "annulus/task/few_shot_task.h"
#include "cli/command.h"
#include "cli/demo_model.h"
#include "cli/emoji_data.h"
#include "cli/encoder.h"
#include "cli/interrupt.h"
#include "cli/load_data.h"
#include "cli/progress_bar.h"
#include "cli/stamp.h"

namespace annulus::cli {
namespace {

constexpr std::size_t kModelShots = 5;        // houses that the saved model learns from
constexpr std::size_t kShownPredictions = 8;  // drawings that are named at the end

struct DemoOptions {
  std::string folder = "demo-output";
  std::size_t most_classes = 0;
  std::vector<std::size_t> shots{1, 3, 5};
  std::size_t subsets = 3;
  EncoderOptions encoder;
  RunOptions run;
};

// Drawings by houses that the model has not seen, evenly spread over the classes.
std::string predict_some(const FeatureSet& set, const Split& split, const Model& model, int threads) {
  std::string text;
  for (std::size_t shown = 0; shown < std::min(kShownPredictions, split.query.size()); ++shown) {
    const std::uint32_t row = split.query[shown * split.query.size() / kShownPredictions];
    Matrix<float> features(1, set.dimension());
    Matrix<float> probabilities(1, model.head.classes());
    set.copy_rows(row, features.view());
    predict_probabilities(model.head, model.temperature, std::as_const(features).view(), probabilities.view(), threads);
    const auto best = most_probable(probabilities.row(0), 1).front();
    const std::string& name = model.class_names[static_cast<std::size_t>(best.index)];
    const bool right = best.index == set.labels()[row];
    text += fmt::format("  {} {} {:.0f} %  {}\n", right ? "+" : "-", name,
                        100.0 * static_cast<double>(best.probability), set.paths()[row]);
  }
  return text;
}

void print_answer(const DemoOptions& options, const EmojiData& emoji, const FeatureSet& set,
                  const ManyWayReport& report) {
  fmt::print(
      "{} emoji drawn by {} design houses ({}): learn each from k houses' drawings, recognise the drawings of the "
      "others.\nBackbone {} (trained with labels on ImageNet), features of {} numbers, {} draws of houses.\n\n{}\n",
      set.classes(), emoji.houses.size(), fmt::join(emoji.houses, ", "), set.provenance().at("backbone"),
      set.dimension(), options.subsets, many_way_table(report));
}

// The default recipe, for the saved model: with the radius that the table's run of the same draw found, if there is
// one.
Recipe model_recipe(const ManyWayReport& report, std::size_t shots, int threads) {
  Recipe recipe = recipe_named("default");
  set_threads(recipe, threads);
  for (const ManyWayResult& result : report.results) {
    if (result.method == "default" && result.shots == shots) recipe.epsilon = result.runs.front().epsilon;
  }
  return recipe;
}

void run_demo(const DemoOptions& options) {
  const std::filesystem::path folder = options.folder;
  const EmojiData emoji = load_emoji(folder / "emoji", options.most_classes, options.encoder, options.run);
  const FeatureSet& set = emoji.set;
  ManyWayOptions protocol;
  protocol.shots = options.shots;
  protocol.subsets = options.subsets;
  protocol.seed = options.run.seed;
  protocol.methods = {"ncm", "linear-svm", "baseline", "ibm2", "default"};
  protocol.recipe = recipe_named("ibm2");
  set_threads(protocol.recipe, options.run.threads);
  const ManyWayReport report = [&] {
    ProgressBar bar(options.run.quiet);
    return evaluate_across_groups(set, emoji.groups, protocol, bar.callback());
  }();
  print_answer(options, emoji, set, report);
  std::fflush(stdout);
  const std::string results = (folder / "emoji-results.json").string();
  ReportContext context{(folder / "emoji").string(), (folder / "emoji").string(), protocol.seed, protocol.subsets,
                        describe(protocol.recipe)};
  context.stamp = make_stamp(protocol.methods, {}, protocol.seed, protocol.subsets, options.run.threads);
  context.stamp->checksums["features"] = content_checksum(set);
  for (const Split& draw : report.draws) context.stamp->splits.push_back(split_checksum(draw));
  write_output(results, many_way_json(report, context));
  const std::string model_file = (folder / "emoji-model.safetensors").string();
  const std::size_t shots = std::min(kModelShots, emoji.houses.size() - 1);
  const Split split = draw_groups(set, emoji.groups, {shots, protocol.seed});
  const Model model =
      fit_demo_model(set, split.support, protocol.seed, model_recipe(report, shots, options.run.threads), options.run);
  stop_if_interrupted();
  write_model(model, model_file);
  fmt::print("The model of {} houses names drawings it has not seen (+ right, - wrong):\n{}\n", shots,
             predict_some(set, split, model, options.run.threads));
  const std::filesystem::path page = write_report(std::vector{results}, folder / "report");
  fmt::print(
      "pictures  {}  (licences: {})\nmodel     {}\nresults   {}\nreport    {}\ntry       annulus predict {} {}\n",
      (folder / "emoji").string(), (folder / "emoji" / "LICENSES.md").string(), model_file, results, page.string(),
      model_file, set.paths()[split.query.front()]);
}

}  // namespace

void add_demo(CLI::App& app, Action& action) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::App& command = *app.add_subcommand(
      "demo",
      "Learn 896 emoji from a few design houses, recognise the drawings of others: the whole way, on real data");
  command.add_option("-o,--output", options->folder, "Folder for pictures, model and results")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--classes", options->most_classes, "Use only the first N emoji (0: all)")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--shots", options->shots, "Numbers of houses to learn from")
      ->type_name("K,...")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--subsets", options->subsets, "Draws of houses")->type_name("N")->capture_default_str();
  add_encoder_options(command, options->encoder, kDefaultBackbone);
  add_seed(command, options->run, "Seed of the draws and of training");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_example(command, "  annulus demo --backbone resnet50 -o emoji-demo");
  command.callback([options, &action] { action = [options] { run_demo(*options); }; });
}

}  // namespace annulus::cli
