// The images of the paper's data sets below one folder, in the layouts in which they are usually unpacked.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "annulus/store/images/image_folder.h"

namespace annulus {

struct DatasetImages {
  std::filesystem::path folder;  // where the data set was found
  ImageList train;               // to sample from; of Imagenet_1pt the images of the list; empty for class splits
  ImageList test;                // to test on; of class splits the novel classes
};

// Names of folders that a data set is looked for in, below the root; the root itself comes last. Throws Error{kUsage}
// for a name that is not of the paper's (Imagenet, Imagenet_1pt, CUB, mini-ImageNet, CIFAR-FS).
const std::vector<std::string>& dataset_folders(const std::string& dataset);

// Nothing when no folder has the layout of the data set. Throws Error{kInput} when the test images have a class that
// the training images lack, and as the readers of the layouts do.
std::optional<DatasetImages> find_dataset_images(const std::filesystem::path& root, const std::string& dataset);

}  // namespace annulus
