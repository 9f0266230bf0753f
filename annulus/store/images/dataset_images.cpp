// Tries folders by name, and asks the reader of the layout.
#include "annulus/store/images/dataset_images.h"

#include <algorithm>
#include <map>

#include "annulus/base/error.h"
#include "annulus/store/images/class_split_layout.h"
#include "annulus/store/images/cub_layout.h"
#include "annulus/store/images/imagenet_layout.h"

namespace annulus {
namespace {

constexpr const char* kOnePercentSet = "Imagenet_1pt";

const std::map<std::string, std::vector<std::string>>& folders_by_dataset() {
  static const std::vector<std::string> kImageNet = {"imagenet",   "ImageNet",    "Imagenet",
                                                     "ILSVRC2012", "imagenet-1k", "ILSVRC/Data/CLS-LOC"};
  static const std::map<std::string, std::vector<std::string>> kFolders = {
      {"Imagenet", kImageNet},
      {kOnePercentSet, kImageNet},
      {"CUB", {"CUB_200_2011", "CUB-200-2011", "CUB", "cub"}},
      {"mini-ImageNet", {"mini-ImageNet", "mini-imagenet", "miniImageNet", "miniimagenet", "mini_imagenet"}},
      {"CIFAR-FS", {"CIFAR-FS", "cifar-fs", "CIFAR_FS", "cifar_fs", "cifar100"}},
  };
  return kFolders;
}

bool has_layout(const std::filesystem::path& folder, const std::string& dataset) {
  if (dataset == "CUB") return is_cub(folder);
  if (dataset == "Imagenet" || dataset == kOnePercentSet) return is_imagenet(folder);
  return is_class_split(folder);
}

// Splits one list by its is_train.
void divide(const ImageList& all, DatasetImages& out) {
  for (ImageList* const part : {&out.train, &out.test}) {
    part->class_names = all.class_names;
    const std::uint8_t wanted = part == &out.train ? 1 : 0;
    for (std::size_t i = 0; i < all.paths.size(); ++i) {
      if (all.is_train[i] != wanted) continue;
      part->paths.push_back(all.paths[i]);
      part->labels.push_back(all.labels[i]);
    }
  }
  out.train.warnings = all.warnings;
}

void check_classes_of_test(const DatasetImages& images) {
  for (const std::string& name : images.test.class_names) {
    const auto& known = images.train.class_names;
    if (std::binary_search(known.begin(), known.end(), name)) continue;
    fail(ErrorKind::kInput, "{}: expected training images of every class, found none of \"{}\", which is tested on",
         images.folder.string(), name);
  }
}

}  // namespace

const std::vector<std::string>& dataset_folders(const std::string& dataset) {
  const auto found = folders_by_dataset().find(dataset);
  if (found == folders_by_dataset().end()) {
    fail(ErrorKind::kUsage, "expected one of the paper's data sets, found \"{}\"", dataset);
  }
  return found->second;
}

std::optional<DatasetImages> find_dataset_images(const std::filesystem::path& root, const std::string& dataset) {
  std::vector<std::filesystem::path> candidates;
  for (const std::string& name : dataset_folders(dataset)) candidates.push_back(root / name);
  candidates.push_back(root);
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const std::filesystem::path& folder) { return has_layout(folder, dataset); });
  if (found == candidates.end()) return std::nullopt;
  DatasetImages images;
  images.folder = *found;
  if (dataset == "CUB") {
    divide(read_cub(*found), images);
  } else if (dataset == "Imagenet" || dataset == kOnePercentSet) {
    images.train = dataset == kOnePercentSet ? imagenet_one_percent(*found) : imagenet_train(*found);
    images.test = imagenet_validation(*found);
  } else {
    images.test = read_novel_classes(*found);
    return images;
  }
  check_classes_of_test(images);
  return images;
}

}  // namespace annulus
