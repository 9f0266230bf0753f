// annulus demo: emoji of vendors never seen, recognised from the drawings of a few others.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/ranking.h"
#include "annulus/report/tables/protocol_report.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/store/models/model_file.h"
#include "annulus/store/results/report_files.h"
#include "annulus/task/few_shot_task.h"
#include "cli/command.h"
#include "cli/demo/demo_model.h"
#include "cli/demo/emoji.h"
#include "cli/demo/emoji_data.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/run_metadata.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

constexpr std::size_t kModelShots = 5;        // vendors that the saved model learns from
constexpr std::size_t kShownPredictions = 8;  // drawings that are named at the end

struct DemoOptions {
  std::string folder = "demo-output";
  std::size_t most_classes = 0;
  std::vector<std::size_t> shots{1, 3, 5};
  std::size_t split_count = 3;
  EncoderOptions encoder;
  RunOptions run;
};

// Drawings by vendors that the model has not seen, evenly spread over the classes.
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

void print_findings(const DemoOptions& options, const EmojiData& emoji, const FeatureSet& set,
                    const ManyWayReport& report) {
  fmt::print(
      "{} emoji drawn by {} vendors ({}): learn each from k vendors' drawings, recognise the drawings of the "
      "others.\nBackbone {} (trained with labels on ImageNet), features of {} dimensions, {} splits of "
      "vendors.\nGuessing would be right in {:.2g} %.\n\n{}\n",
      set.classes(), emoji.vendors.size(), fmt::join(emoji.vendors, ", "), set.provenance().at("backbone"),
      set.dimension(), options.split_count, 100.0 / static_cast<double>(set.classes()), many_way_table(report));
}

// The model of the first split, which is also one of the table's: the first thing to see.
struct DemoModel {
  std::filesystem::path file;
  Split split;
};

DemoModel make_model(const DemoOptions& options, const EmojiData& emoji) {
  const std::size_t shots = std::min(kModelShots, emoji.vendors.size() - 1);
  DemoModel made{std::filesystem::path(options.folder) / "emoji-model.safetensors",
                 draw_groups(emoji.set, emoji.groups, {shots, options.run.seed})};
  Recipe recipe = recipe_named("default");
  set_threads(recipe, options.run.threads);
  const Model model = fit_demo_model(emoji.set, made.split.support, options.run.seed, recipe, options.run);
  stop_if_interrupted();
  write_model(model, made.file);
  fmt::print("A model of {} emoji by {} vendors names drawings of vendors it has not seen (+ right, - wrong):\n{}\n",
             emoji.set.classes(), shots, predict_some(emoji.set, made.split, model, options.run.threads));
  std::fflush(stdout);
  return made;
}

void run_demo(const DemoOptions& options) {
  const std::filesystem::path folder = options.folder;
  const EmojiData emoji = load_emoji(folder / "emoji", options.most_classes, options.encoder, options.run);
  const FeatureSet& set = emoji.set;
  const DemoModel model = make_model(options, emoji);
  ManyWayOptions protocol;
  protocol.shots = options.shots;
  protocol.split_count = options.split_count;
  protocol.seed = options.run.seed;
  protocol.methods = {"ncm", "gda", "lda", "baseline", "ibm2", "default"};
  protocol.recipe = recipe_named("ibm2");
  set_threads(protocol.recipe, options.run.threads);
  const ManyWayReport report = [&] {
    ProgressBar bar(options.run.quiet);
    return evaluate_across_groups(set, emoji.groups, protocol, bar.callback());
  }();
  print_findings(options, emoji, set, report);
  const std::string results = (folder / "emoji-results.json").string();
  ReportContext context{(folder / "emoji").string(), (folder / "emoji").string(), protocol.seed, protocol.split_count,
                        describe(protocol.recipe)};
  context.metadata = make_run_metadata(protocol.methods, {}, protocol.seed, protocol.split_count, options.run.threads);
  context.metadata->checksums["features"] = content_checksum(set);
  for (const Split& drawn : report.splits) context.metadata->splits.push_back(split_checksum(drawn));
  write_output(results, many_way_json(report, context));
  const std::filesystem::path page = write_report(std::vector{results}, folder / "report");
  fmt::print(
      "pictures  {}  (licences: {})\nmodel     {}\nresults   {}\nreport    {}\ntry       annulus predict {} {}\n",
      (folder / "emoji").string(), (folder / "emoji" / "LICENSES.md").string(), model.file.string(), results,
      page.string(), model.file.string(), set.paths()[model.split.query.front()]);
}

}  // namespace

void add_demo(CLI::App& app, Action& action) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::App& command =
      *app.add_subcommand("demo", "Learn 895 emoji from a few vendors and recognise those of the others");
  command.add_option("-o,--output", options->folder, "Folder for images, model and results")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--classes", options->most_classes, "Use only the first N emoji (0: all)")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--shots", options->shots, "Vendors to learn from")
      ->type_name("K,...")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--subsets", options->split_count, "Random choices of vendors to average over")
      ->type_name("N")
      ->capture_default_str();
  add_encoder_options(command, options->encoder, kQuickBackbone);
  add_seed(command, options->run, "Seed of the splits and of training");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_example(command, "  annulus demo --backbone resnet50 -o emoji-demo");
  command.callback([options, &action] { action = [options] { run_demo(*options); }; });
}

}  // namespace annulus::cli
