// Data sets whose classes are split into base, validation and novel ones: mini-ImageNet, CIFAR-FS.
#pragma once

#include <filesystem>

#include "annulus/store/images/image_folder.h"

namespace annulus {

// The images of the novel classes (the split "test"). Layouts, tried in this order, in the folder itself and in its
// splits/, split/ and splits/bertinetto/:
//   test.csv                 filename,label; the images in images/, in images/<label>/, in data/<label>/ or in the
//   folder test.txt                 a class a line; the images in data/<class>/, images/<class>/ or <class>/
//   test/<class>/            also meta-test/ and novel/
// Throws Error{kInput} when there is none of these, or when an image or class that is listed is missing; Error{kFormat}
// with the line where a list is damaged.
ImageList read_novel_classes(const std::filesystem::path& folder);

// Whether a folder has one of these layouts.
bool is_class_split(const std::filesystem::path& folder);

}  // namespace annulus
