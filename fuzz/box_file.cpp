// Fuzzes files of boxes: COCO's and MegaDetector's JSON, metadata, and the text that names a box.
#include "annulus/store/images/box_file.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "annulus/base/error.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/vision/image/crop.h"

namespace {

// A folder with one photo, whose boxes the input is.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "annulus-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
    std::ofstream(path / "a.jpg") << "x";
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const char* const name = data[0] % 3 == 0 ? "boxes.json" : data[0] % 3 == 1 ? "boxes.csv" : "boxes.jsonl";
  std::ofstream(folder.path / name, std::ios::binary) << text;
  try {
    annulus::ImageListOptions options;
    options.boxes.file = folder.path / name;
    for (const std::string& path : annulus::list_images(folder.path, options).paths) {
      const annulus::MediaFragment fragment = annulus::parse_media_fragment(path);
      if (!fragment.box || annulus::parse_media_fragment(annulus::to_text(fragment)) != fragment) std::abort();
      annulus::pixels_of(*fragment.box, 40, 24, 0.1, path);
    }
  } catch (const annulus::Error&) {
    // The promised answer to a damaged file.
  }
  return 0;
}
