// Fuzzes the lists of data sets: CUB's four, class splits, the table of ImageNet's validation images and lists of 1 %.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "annulus/base/error.h"
#include "annulus/store/images/class_split_layout.h"
#include "annulus/store/images/cub_layout.h"
#include "annulus/store/images/imagenet_layout.h"

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// A folder in which every layout is whole; the input takes the place of one list.
struct Tree {
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "annulus-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    for (const char* image : {"cub/images/a/1.jpg", "imagenet/train/n1/n1_1.JPEG", "imagenet/val/v1.JPEG",
                              "table/images/1.jpg", "names/data/a/1.jpg"}) {
      write(folder / image, "x");
    }
    write(folder / "cub/images.txt", "1 a/1.jpg\n");
    write(folder / "cub/image_class_labels.txt", "1 1\n");
    write(folder / "cub/train_test_split.txt", "1 1\n");
    write(folder / "cub/classes.txt", "1 a\n");
  }
  ~Tree() { std::filesystem::remove_all(folder); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  std::filesystem::path folder;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Tree tree;
  static constexpr std::array<const char*, 4> kCub = {"images.txt", "image_class_labels.txt", "train_test_split.txt",
                                                      "classes.txt"};
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    switch (const std::size_t choice = data[0] % 8; choice) {
      case 4:
        write(tree.folder / "imagenet/LOC_val_solution.csv", text);
        annulus::imagenet_validation(tree.folder / "imagenet");
        break;
      case 5:
        write(tree.folder / "imagenet/1percent.txt", text);
        annulus::imagenet_one_percent(tree.folder / "imagenet");
        break;
      case 6:
        write(tree.folder / "table/test.csv", text);
        annulus::read_novel_classes(tree.folder / "table");
        break;
      case 7:
        write(tree.folder / "names/splits/test.txt", text);
        annulus::read_novel_classes(tree.folder / "names");
        break;
      default: {
        const std::filesystem::path cub = tree.folder / "cub";
        const std::filesystem::path whole = tree.folder / "whole.txt";
        std::filesystem::copy_file(cub / kCub[choice], whole, std::filesystem::copy_options::overwrite_existing);
        write(cub / kCub[choice], text);
        try {
          annulus::read_cub(cub);
        } catch (const annulus::Error&) {
          // The promised answer to a damaged list.
        }
        std::filesystem::copy_file(whole, cub / kCub[choice], std::filesystem::copy_options::overwrite_existing);
      }
    }
  } catch (const annulus::Error&) {
    // Likewise.
  }
  return 0;
}
