// annulus demo: emoji of design houses never seen, recognised from the drawings of a few others.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/many_way.h"
#include "annulus/eval/ranking.h"
#include "annulus/eval/report.h"
#include "annulus/learn/model.h"
#include "annulus/store/emoji.h"
#include "annulus/store/image_folder.h"
#include "annulus/store/model_file.h"
#include "annulus/store/report_files.h"
#include "annulus/task/few_shot_task.h"
#include "cli/command.h"
#include "cli/demo_model.h"
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

struct Emoji {
  ImageList images;                  // of the emoji that every house has drawn
  std::vector<std::string> houses;   // by group number
  std::vector<std::int32_t> groups;  // house of each image
};

// Keeps the classes that every house has: with one drawing missing, a class might have nothing to learn from.
Emoji complete_classes(const ImageList& all) {
  std::vector<std::size_t> drawings(all.class_names.size(), 0);
  for (const std::int32_t label : all.labels) ++drawings[static_cast<std::size_t>(label)];
  const std::size_t most = *std::max_element(drawings.begin(), drawings.end());
  Emoji emoji;
  std::vector<std::int32_t> new_label(all.class_names.size(), -1);
  for (std::size_t c = 0; c < drawings.size(); ++c) {
    if (drawings[c] != most) continue;
    new_label[c] = static_cast<std::int32_t>(emoji.images.class_names.size());
    emoji.images.class_names.push_back(all.class_names[c]);
  }
  std::map<std::string, std::int32_t> house_number;
  for (std::size_t i = 0; i < all.paths.size(); ++i) {
    const std::int32_t label = new_label[static_cast<std::size_t>(all.labels[i])];
    if (label < 0) continue;
    const std::string house = std::filesystem::path(all.paths[i]).stem();
    const auto found = house_number.emplace(house, static_cast<std::int32_t>(house_number.size()));
    if (found.second) emoji.houses.push_back(house);
    emoji.images.paths.push_back(all.paths[i]);
    emoji.images.labels.push_back(label);
    emoji.groups.push_back(found.first->second);
  }
  return emoji;
}

Emoji prepare_emoji(const DemoOptions& options) {
  const std::filesystem::path folder = std::filesystem::path(options.folder) / "emoji";
  ProgressBar bar(options.run.quiet);
  EmojiOptions drawing;
  drawing.threads = options.run.threads;
  drawing.most_classes = options.most_classes;
  const EmojiReport report = make_emoji(folder, drawing, bar.callback());
  for (const std::string& skipped : report.skipped) bar.note("left out: " + skipped);
  return complete_classes(list_images(folder));
}

// Drawings by houses that the model has not seen, evenly spread over the classes.
std::string predict_some(const FeatureSet& set, const Split& split, const Model& model, int threads) {
  std::string text;
  for (std::size_t shown = 0; shown < std::min(kShownPredictions, split.query.size()); ++shown) {
    const std::uint32_t row = split.query[shown * split.query.size() / kShownPredictions];
    Matrix<float> features(1, set.dimension());
    Matrix<float> probabilities(1, model.head.classes());
    set.copy_rows(row, features.view());
    predict_probabilities(model.head, std::as_const(features).view(), probabilities.view(), threads);
    const auto best = most_probable(probabilities.row(0), 1).front();
    const std::string& name = model.class_names[static_cast<std::size_t>(best.index)];
    const bool right = best.index == set.labels()[row];
    text += fmt::format("  {} {} {:.0f} %  {}\n", right ? "+" : "-", name,
                        100.0 * static_cast<double>(best.probability), set.paths()[row]);
  }
  return text;
}

void print_answer(const DemoOptions& options, const Emoji& emoji, const FeatureSet& set, const ManyWayReport& report) {
  fmt::print(
      "{} emoji drawn by {} design houses ({}): learn each from k houses' drawings, recognise the drawings of the "
      "others.\nBackbone {} (trained with labels on ImageNet), features of {} numbers, {} draws of houses.\n\n{}\n",
      set.classes(), emoji.houses.size(), fmt::join(emoji.houses, ", "), set.provenance().at("backbone"),
      set.dimension(), options.subsets, many_way_table(report));
}

// The recipe of the saved model: with the radius that the table's run of the same draw found, if there is one.
Recipe model_recipe(const ManyWayOptions& protocol, const ManyWayReport& report, std::size_t shots) {
  Recipe recipe = protocol.recipe;
  for (const ManyWayResult& result : report.results) {
    if (result.method == "ibm2" && result.shots == shots) recipe.epsilon = result.runs.front().epsilon;
  }
  return recipe;
}

void run_demo(const DemoOptions& options) {
  const std::filesystem::path folder = options.folder;
  const Emoji emoji = prepare_emoji(options);
  const FeatureSet set = [&] {
    ProgressBar bar(options.run.quiet);
    return encode_images(emoji.images, (folder / "emoji").string(), open_encoder(options.encoder, bar.callback()),
                         options.encoder, options.run.threads, bar);
  }();
  if (set.rows() != emoji.images.paths.size()) {
    fail(ErrorKind::kInput, "{}: expected {} readable pictures, found {}; delete the folder to draw them anew",
         (folder / "emoji").string(), emoji.images.paths.size(), set.rows());
  }
  ManyWayOptions protocol;
  protocol.shots = options.shots;
  protocol.subsets = options.subsets;
  protocol.seed = options.run.seed;
  protocol.recipe = recipe_named("default");
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
      fit_demo_model(set, split.support, protocol.seed, model_recipe(protocol, report, shots), options.run);
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
