// Runs the protocols on the emoji one after the other.
#include "cli/demo/reproduce_emoji.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "annulus/eval/protocols/ablation.h"
#include "annulus/eval/protocols/episodes.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/report/tables/ablation_report.h"
#include "annulus/report/tables/episodes_report.h"
#include "annulus/report/tables/protocol_report.h"
#include "annulus/store/results/report_files.h"
#include "cli/demo/emoji_data.h"
#include "cli/processes/launch.h"
#include "cli/run_metadata.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

// Methods that need nothing but the rows, and predict each alone.
std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (!method.needs_base && !method.transductive()) names.emplace_back(method.name);
  }
  return names;
}

class EmojiRun {
 public:
  explicit EmojiRun(const EmojiProtocols& options)
      : options_(options),
        folder_(options.folder),
        emoji_(load_emoji(folder_ / "emoji", options.classes, options.encoder, options.run)),
        cache_(folder_ / "finished.runs") {
    say(
        fmt::format("# Emoji of {} vendors\n\n{} emoji drawn by {}: learn from k vendors, recognise the drawings of "
                    "the others. Backbone {} (trained with labels on ImageNet), features of {} dimensions. Nothing is "
                    "chosen on test labels unless a line says so.\n",
                    emoji_.vendors.size(), emoji_.set.classes(), fmt::join(emoji_.vendors, ", "),
                    emoji_.set.provenance().at("backbone"), emoji_.set.dimension()));
  }

  void many_way() {
    ManyWayOptions protocol;
    protocol.shots = options_.shots;
    protocol.split_count = options_.split_count;
    protocol.seed = options_.run.seed;
    protocol.methods = all_methods();
    protocol.recipe = options_.recipe;
    protocol.cached_runs = cache_.runs();
    RunMetadata metadata = metadata_of(protocol.methods, protocol.split_count);
    protocol.data_name = metadata.checksums["features"];
    const ManyWayReport report = [&] {
      ProgressBar bar(options_.run.quiet);
      return evaluate_across_groups(emoji_.set, emoji_.groups, protocol, bar.callback());
    }();
    say(fmt::format("\n## All classes at once\n\n{}-way, {} splits of vendors.\n\n```text\n{}```\n", report.ways,
                    protocol.split_count, many_way_table(report)));
    for (const Split& split : report.splits) metadata.splits.push_back(split_checksum(split));
    const std::string source = (folder_ / "emoji").string();
    keep("many-way.json",
         many_way_json(report,
                       {source, source, protocol.seed, protocol.split_count, describe(protocol.recipe), {}, metadata}));
  }

  void episodes() {
    EpisodesOptions protocol;
    protocol.episodes = options_.episodes;
    protocol.seeds = options_.seeds;
    protocol.seed = options_.run.seed;
    // Eight vendors: what five shots leave.
    protocol.queries = std::min<std::size_t>(15, emoji_.vendors.size() - 5);
    protocol.methods = all_methods();
    std::erase(protocol.methods, "default");  // its search is too long for thousands of small tasks
    protocol.recipe = options_.episodes_recipe;
    protocol.threads = options_.run.threads;
    protocol.cached_runs = cache_.seeds();
    const RunMetadata metadata = metadata_of(protocol.methods, protocol.seeds);
    protocol.data_name = metadata.checksums.at("features");
    const EpisodesReport report = [&] {
      ProgressBar bar(options_.run.quiet);
      return evaluate_episodes(emoji_.set, protocol, bar.callback());
    }();
    say(fmt::format("\n## Episodes\n\n5-way, {} queries a class, {} episodes of each of {} seeds.\n\n```text\n{}```\n",
                    protocol.queries, protocol.episodes, protocol.seeds, episodes_table(report)));
    keep("episodes.json", episodes_json(report, protocol, (folder_ / "emoji").string(), metadata));
  }

  void ablations() {
    const EmojiData part = first_classes(emoji_, std::min(options_.ablation_classes, emoji_.set.classes()));
    const std::size_t splits = options_.split_count + 1;
    const SplitOptions drawing{options_.run.seed, cache_.runs(), content_checksum(part.set)};
    say(fmt::format("\n# Ablations\n\nOn the first {} emoji by name, {} vendors seen, {} splits of vendors.\n",
                    part.set.classes(), options_.ablation_shots, splits));
    for (const AblationKind& kind : ablation_kinds()) {
      AblationOptions ablation;
      ablation.what = kind.name;
      ablation.shots = {options_.ablation_shots};
      ablation.recipe = options_.recipe;
      const AblationReport report = [&] {
        ProgressBar bar(options_.run.quiet);
        return ablate(
            [&](std::size_t shots) { return splits_of_groups(part.set, part.groups, shots, splits, drawing); },
            ablation, bar.callback());
      }();
      note("\n" + ablation_table(report, isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr));
      markdown_ += "\n" + ablation_markdown(report);
      RunMetadata metadata = metadata_of(ablation.beside, splits);
      metadata.checksums["features"] = drawing.data_name;
      metadata.test_labels_used = uses_test_labels(report);
      keep(fmt::format("ablation-{}.json", kind.name),
           ablation_json(report, {(folder_ / "emoji").string(), options_.run.seed, splits, describe(ablation.recipe),
                                  std::move(metadata)}));
    }
  }

  void finish() {
    if (only_helps()) return;
    const std::string markdown = (folder_ / "results.md").string();
    write_output(markdown, markdown_);
    const std::filesystem::path page = write_report(documents_, folder_ / "report");
    note(fmt::format("\ntables   {}\nreport   {}\n", markdown, page.string()));
  }

 private:
  void note(const std::string& text) {
    if (only_helps()) return;
    fmt::print("{}", text);
    std::fflush(stdout);
  }
  void say(const std::string& text) {
    note(text);
    markdown_ += text;
  }
  void keep(const std::string& name, const std::string& json) {
    const std::string path = (folder_ / name).string();
    write_output(path, json);
    if (!name.starts_with("ablation")) documents_.push_back(path);
  }

  RunMetadata metadata_of(const std::vector<std::string>& names, std::size_t splits) const {
    RunMetadata metadata = make_run_metadata(names, {}, options_.run.seed, splits, options_.run.threads);
    metadata.checksums["features"] = content_checksum(emoji_.set);
    return metadata;
  }

  const EmojiProtocols& options_;
  std::filesystem::path folder_;
  EmojiData emoji_;
  RunCacheFile cache_;  // a run that was stopped goes on where it was
  std::string markdown_;
  std::vector<std::string> documents_;
};

}  // namespace

void reproduce_emoji(const EmojiProtocols& options) {
  EmojiRun run(options);
  run.many_way();
  run.episodes();
  run.ablations();
  run.finish();
}

}  // namespace annulus::cli
