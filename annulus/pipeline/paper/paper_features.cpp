// Reads the lists of a data set once, then encodes what each row of a table needs of it.
#include "annulus/pipeline/paper/paper_features.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/pipeline/encode.h"
#include "annulus/store/images/dataset_images.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

// The shots and the run of a training file; nothing for another stem.
struct TrainingFile {
  std::size_t shots = 0;
  std::size_t run = 0;
};

std::optional<TrainingFile> training_file_of(const std::string& stem) {
  constexpr std::string_view kFirst = "train_";
  constexpr std::string_view kSecond = "shot_";
  if (!stem.starts_with(kFirst)) return std::nullopt;
  TrainingFile file;
  const char* const end = stem.data() + stem.size();
  const auto [middle, error] = std::from_chars(stem.data() + kFirst.size(), end, file.shots);
  if (error != std::errc() || !std::string_view(middle, end).starts_with(kSecond)) return std::nullopt;
  const auto [last, run_error] = std::from_chars(middle + kSecond.size(), end, file.run);
  if (run_error != std::errc() || last != end) return std::nullopt;
  return file;
}

// Labels without features, to sample from.
FeatureSet labels_of(const ImageList& list, const std::string& source) {
  const auto ones = std::make_shared<Matrix<float>>(list.paths.size(), 1);
  std::fill_n(ones->data(), ones->rows(), 1.0F);
  FeatureSetParts parts;
  parts.features = ones->view();
  parts.owner = ones;
  parts.labels = list.labels;
  parts.class_names = list.class_names;
  parts.source = source;
  return FeatureSet(std::move(parts));
}

ImageList sampled(const DatasetImages& images, const TrainingFile& file, std::uint64_t seed) {
  const FeatureSet labels = labels_of(images.train, images.folder.string());
  ImageList list;
  list.class_names = images.train.class_names;
  for (const std::uint32_t row : draw_support(labels, {file.shots, seed + file.run}).support) {
    list.paths.push_back(images.train.paths[row]);
    list.labels.push_back(images.train.labels[row]);
  }
  return list;
}

ImageList images_of(const DatasetImages& images, const std::string& stem, std::uint64_t seed) {
  if (const auto file = training_file_of(stem)) return sampled(images, *file, seed);
  return stem == training_stem(0, 0) ? images.train : images.test;
}

std::string network_of(const PaperFeatures& features, const PaperImageOptions& options) {
  for (const std::string& key : {fmt::format("{}/{}/{}", features.pretraining, features.dataset, features.architecture),
                                 fmt::format("{}/{}", features.pretraining, features.architecture)}) {
    if (const auto found = options.networks.find(key); found != options.networks.end()) return found->second;
  }
  return options.encoder.backbone.empty() ? paper_network(features).name : options.encoder.backbone;
}

// The geometry of the paper with the values that the network was trained with.
std::string preprocessing_of(const PaperFeatures& features, const std::string& own) {
  PreprocessRecipe recipe = preprocess_preset(paper_network(features).preprocessing);
  if (own.empty()) return to_text(recipe);
  const PreprocessRecipe network = recipe_from_text(own);
  recipe.scaling = network.scaling;
  recipe.mean = network.mean;
  recipe.std = network.std;
  recipe.channels = network.channels;
  recipe.layout = network.layout;
  return to_text(recipe);
}

Encoder open_paper_encoder(const PaperFeatures& features, const PaperImageOptions& options) {
  EncoderOptions encoder_options = options.encoder;
  encoder_options.backbone = network_of(features, options);
  // Opened with any preprocessing that fits; the paper's depends on what the network says of itself.
  if (encoder_options.preprocess.empty()) encoder_options.preprocess = preprocessing_of(features, {});
  Encoder encoder = open_encoder(encoder_options, options.progress);
  if (options.encoder.preprocess.empty()) {
    for (EncoderPart& part : encoder.parts) {
      part.recipe = choose_recipe(part.backbone, preprocessing_of(features, part.backbone.preprocessing()));
    }
  }
  return encoder;
}

void tell(const PaperImageOptions& options, const std::string& sentence) {
  if (options.note) options.note(sentence);
}

// Reads each data set once.
class Datasets {
 public:
  explicit Datasets(const PaperImageOptions& options) : options_(options) {}

  // Null, which is told once, where it is not below the root.
  const DatasetImages* find(const std::string& name) {
    if (name != name_) {
      report(options_.progress, {"read the lists of " + name, 0, 0, {}});
      images_.reset();  // two large lists need not be in memory together
      images_ = find_dataset_images(options_.root, name);
      name_ = name;
      if (!images_) {
        tell(options_, fmt::format("{} is not in {}, nor in its folders {}", name, options_.root.string(),
                                   fmt::join(dataset_folders(name), ", ")));
      } else {
        for (const ImageList* list : {&images_->train, &images_->test}) {
          for (const std::string& warning : list->warnings) tell(options_, warning);
        }
      }
    }
    return images_ ? &*images_ : nullptr;
  }

 private:
  const PaperImageOptions& options_;
  std::string name_;
  std::optional<DatasetImages> images_;
};

void make_files(const WantedFeatures& wanted, const DatasetImages& images, const Encoder& encoder,
                const FeatureTree& tree, const PaperImageOptions& options) {
  ExtractOptions extracting = extract_options(options.encoder, encoder, options.threads);
  extracting.first_fraction = options.first_fraction;
  const std::filesystem::path folder = tree.folder(wanted.features);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "could not make the folder {}: {}", folder.string(), error.message());
  for (const std::string& stem : wanted.stems) {
    const ImageList list = images_of(images, stem, options.seed);
    const ExtractReport made =
        encode_to_file(list, encoder, extracting, folder / (stem + ".safetensors"), options.progress);
    note_broken_images(made, options.note);
  }
}

}  // namespace

std::filesystem::path made_features_folder(const PaperImageOptions& options) {
  std::string text = fmt::format("{}\n{}\n", std::filesystem::absolute(options.root).string(), options.seed);
  for (const auto& [row, network] : options.networks) text += fmt::format("{}={} ", row, network);
  text += fmt::format("\n{}\n{}", options.encoder.backbone, options.encoder.preprocess);
  return cache_folder() / "reproduce" / sha256_hex(std::as_bytes(std::span(text))).substr(0, 16);
}

std::vector<WantedFeatures> missing_features(const std::vector<PaperCell>& cells, const FeatureTree& tree,
                                             std::size_t runs, bool episodes) {
  std::vector<WantedFeatures> wanted;
  for (const PaperCell& cell : cells) {
    std::vector<std::string> stems{episodes ? kNovelStem : kTestStem};
    if (!episodes) {
      for (std::size_t run = 0; run < (cell.shots == 0 ? std::min<std::size_t>(runs, 1) : runs); ++run) {
        stems.push_back(training_stem(cell.shots, run));
      }
    }
    std::erase_if(stems, [&](const std::string& stem) { return tree.find(cell.features, stem).has_value(); });
    if (stems.empty()) continue;
    auto found = std::find_if(wanted.begin(), wanted.end(),
                              [&](const WantedFeatures& each) { return each.features == cell.features; });
    if (found == wanted.end()) found = wanted.insert(wanted.end(), {cell.features, {}});
    for (std::string& stem : stems) {
      if (std::find(found->stems.begin(), found->stems.end(), stem) == found->stems.end()) {
        found->stems.push_back(std::move(stem));
      }
    }
  }
  return wanted;
}

void make_paper_features(const std::vector<WantedFeatures>& wanted, const FeatureTree& tree,
                         const PaperImageOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.root, ignored)) {
    fail(ErrorKind::kIo, "{}: expected a folder of data sets, found none", options.root.string());
  }
  // By data set, so that each is read once.
  std::vector<WantedFeatures> rows = wanted;
  std::stable_sort(rows.begin(), rows.end(), [](const WantedFeatures& a, const WantedFeatures& b) {
    return a.features.dataset < b.features.dataset;
  });
  Datasets datasets(options);
  for (const WantedFeatures& row : rows) {
    const DatasetImages* const images = datasets.find(row.features.dataset);
    if (images == nullptr) continue;
    std::optional<Encoder> encoder;
    try {
      encoder = open_paper_encoder(row.features, options);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCancelled || error.kind() == ErrorKind::kInternal) throw;
      tell(options, fmt::format("{}/{}/{} is left out, because its network cannot be had: {}", row.features.pretraining,
                                row.features.dataset, row.features.architecture, error.what()));
      continue;
    }
    make_files(row, *images, *encoder, tree, options);
  }
}

}  // namespace annulus
