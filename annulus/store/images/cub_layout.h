// CUB-200-2011 as its authors packed it: images.txt, image_class_labels.txt, train_test_split.txt, classes.txt,
// images/.
#pragma once

#include <filesystem>

#include "annulus/store/images/image_folder.h"

namespace annulus {

// Whether a folder has the list of images that this layout begins with.
bool is_cub(const std::filesystem::path& folder);

// All images in the order of images.txt, with classes by name and the authors' split as is_train. Throws Error{kFormat}
// with the line of a list that is damaged, Error{kInput} for an image, class or split that is missing, Error{kIo} for a
// list that cannot be read.
ImageList read_cub(const std::filesystem::path& folder);

}  // namespace annulus
