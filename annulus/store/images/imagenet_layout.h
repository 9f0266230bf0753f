// ImageNet (ILSVRC2012) as it is usually unpacked: train/<class>/, and val/ with class folders or with a list.
#pragma once

#include <filesystem>

#include "annulus/store/images/image_folder.h"

namespace annulus {

// Whether a folder has train/ and val/.
bool is_imagenet(const std::filesystem::path& folder);

// The training images of all classes. Throws as list_images does.
ImageList imagenet_train(const std::filesystem::path& folder);

// The images of val/. Their classes are its folders, or those that LOC_val_solution.csv (as Kaggle has it: ImageId,
// PredictionString, which begins with the class) gives to the files of a flat folder; it may lie in `folder` or up to
// three folders above. Throws Error{kInput} when there are neither folders nor that list, or when an image of the list
// is missing; Error{kFormat} with the line where it is damaged.
ImageList imagenet_validation(const std::filesystem::path& folder);

// The training images that a list of 1 % names (1percent.txt: a file name a line, n01440764_10043.JPEG), which lies in
// `folder`, in a folder of lists inside it, or in the folder above. Throws Error{kInput} when there is none and as
// list_images does.
ImageList imagenet_one_percent(const std::filesystem::path& folder);

}  // namespace annulus
