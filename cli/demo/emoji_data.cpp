// Draws, encodes and groups emoji.
#include "cli/demo/emoji_data.h"

#include <algorithm>
#include <map>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/task/few_shot_task.h"
#include "cli/demo/emoji.h"
#include "cli/load_data.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct EmojiPictures {
  ImageList images;
  std::vector<std::string> vendors;
  std::vector<std::int32_t> groups;
};

// Keeps the classes that every vendor has: with one drawing missing, a class might have nothing to learn from.
EmojiPictures complete_classes(const ImageList& all) {
  std::vector<std::size_t> drawings(all.class_names.size(), 0);
  for (const std::int32_t label : all.labels) ++drawings[static_cast<std::size_t>(label)];
  const std::size_t most = *std::max_element(drawings.begin(), drawings.end());
  EmojiPictures emoji;
  std::vector<std::int32_t> new_label(all.class_names.size(), -1);
  for (std::size_t c = 0; c < drawings.size(); ++c) {
    if (drawings[c] != most) continue;
    new_label[c] = static_cast<std::int32_t>(emoji.images.class_names.size());
    emoji.images.class_names.push_back(all.class_names[c]);
  }
  std::map<std::string, std::int32_t> vendor_number;
  for (std::size_t i = 0; i < all.paths.size(); ++i) {
    const std::int32_t label = new_label[static_cast<std::size_t>(all.labels[i])];
    if (label < 0) continue;
    const std::string vendor = std::filesystem::path(all.paths[i]).stem();
    const auto found = vendor_number.emplace(vendor, static_cast<std::int32_t>(vendor_number.size()));
    if (found.second) emoji.vendors.push_back(vendor);
    emoji.images.paths.push_back(all.paths[i]);
    emoji.images.labels.push_back(label);
    emoji.groups.push_back(found.first->second);
  }
  return emoji;
}

}  // namespace

EmojiData load_emoji(const std::filesystem::path& folder, std::size_t most_classes, EncoderOptions encoder,
                     const RunOptions& run) {
  if (encoder.backbone.empty()) encoder.backbone = kQuickBackbone;
  ProgressBar bar(run.quiet);
  EmojiOptions drawing;
  drawing.threads = run.threads;
  drawing.most_classes = most_classes;
  const EmojiReport report = make_emoji(folder, drawing, bar.callback());
  for (const std::string& skipped : report.skipped) bar.warn("left out: " + skipped);
  EmojiPictures pictures = complete_classes(list_images(folder));
  FeatureSet set =
      encode_images(pictures.images, folder.string(), open_encoder(encoder, bar.callback(), pictures.images.paths),
                    load_options({{}, {}, encoder}, run.threads, bar));
  if (set.rows() != pictures.images.paths.size()) {
    fail(ErrorKind::kInput, "{}: expected {} readable pictures, found {}; delete the folder to draw them anew",
         folder.string(), pictures.images.paths.size(), set.rows());
  }
  return {std::move(set), std::move(pictures.vendors), std::move(pictures.groups)};
}

EmojiData first_classes(const EmojiData& emoji, std::size_t classes) {
  std::vector<std::uint32_t> rows;
  std::vector<std::int32_t> groups;
  for (std::uint32_t i = 0; i < emoji.set.rows(); ++i) {
    if (static_cast<std::size_t>(emoji.set.labels()[i]) >= classes) continue;
    rows.push_back(i);
    groups.push_back(emoji.groups[i]);
  }
  LabelledExamples kept = gather(emoji.set, rows);
  FeatureSetParts parts = parts_of(std::move(kept.features));
  parts.labels = std::move(kept.labels);
  const auto names = emoji.set.class_names();
  parts.class_names.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(classes, names.size())));
  parts.provenance = emoji.set.provenance();
  parts.source = emoji.set.source();
  return {FeatureSet(std::move(parts)), emoji.vendors, std::move(groups)};
}

}  // namespace annulus::cli
