// Looks at the machine.
#include "annulus/pipeline/diagnosis.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/kernels/processor.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "annulus/pipeline/download/download.h"
#include "annulus/pipeline/download/http_download.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/vision/backbone/backbone.h"

namespace annulus {
namespace {

constexpr double kLeastGigabytes = 1.0;  // free in the cache folder: a network or two, and features

// The file of a program on the PATH; empty: not there.
std::string on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / program;
    if (::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

Finding look_at_runtime(bool can_download) {
  try {
    return {"image support", true, true, describe_runtime()};
  } catch (const Error& error) {
    const bool absent = lacks_runtime();
    Finding finding{"image support", absent && can_download, true, error.what()};
    if (absent) finding.found = "ONNX Runtime is not there yet: it is downloaded with the first network";
    if (finding.ok) return finding;
    if (absent) {
      finding.mend =
          "annulus backbones get mobilenet-0.25, once downloads work (below); or export ANNULUS_ONNXRUNTIME=FILE";
    } else if (const char* chosen = std::getenv("ANNULUS_ONNXRUNTIME"); chosen != nullptr && *chosen != '\0') {
      finding.mend = "unset ANNULUS_ONNXRUNTIME, or export ANNULUS_ONNXRUNTIME=FILE with a library that can be used";
    } else {
      finding.mend = "scripts/build release, in the sources; or export ANNULUS_ONNXRUNTIME=FILE";
    }
    return finding;
  }
}

Finding look_at_cache() {
  Finding finding{"cache folder", false, true, {}, "export ANNULUS_CACHE=FOLDER, one that can be written"};
  try {
    const std::filesystem::path folder = cache_folder();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    check_writable(folder / "writable");
    return {finding.subject, true, true, folder.string()};
  } catch (const std::exception& error) {
    finding.found = error.what();
  }
  return finding;
}

// Of the cache folder, or of the folder above it that is there.
Finding look_at_disk() {
  Finding finding{"disk", false, true, {}, "export ANNULUS_CACHE=FOLDER, on a disk with more room"};
  try {
    std::filesystem::path folder = cache_folder();
    std::error_code error;
    while (!std::filesystem::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    const double gigabytes = static_cast<double>(std::filesystem::space(folder).available) / 1e9;
    finding.found = fmt::format("{:.1f} GB free for the cache, in {}", gigabytes, folder.string());
    finding.ok = gigabytes >= kLeastGigabytes;
    if (std::filesystem::is_directory(cache_folder() / "features", error)) {
      finding.mend = fmt::format("rm -r {}, which is computed again when needed; or {}",
                                 (cache_folder() / "features").string(), finding.mend);
    }
    if (finding.ok) finding.mend.clear();
  } catch (const std::exception& error) {
    finding.found = error.what();
  }
  return finding;
}

Finding look_at_processor() {
  Finding finding{"processor", has_fast_vectors(), false, "kernels use " + vector_instructions()};
  if (!finding.ok) finding.mend = "nothing to install: it works, but a processor with AVX2 is several times faster";
  return finding;
}

// Fonts of the system and of the user.
Finding look_at_fonts() {
  std::vector<std::filesystem::path> folders{"/usr/share/fonts", "/usr/local/share/fonts"};
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    folders.push_back(std::filesystem::path(home) / ".local/share/fonts");
    folders.push_back(std::filesystem::path(home) / ".fonts");
  }
  for (const auto& folder : folders) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string extension = entry->path().extension().string();
      if (extension != ".ttf" && extension != ".otf" && extension != ".ttc") continue;
      return {"fonts", true, false, folder.string()};
    }
  }
  return {"fonts", false, false, "none, so that letters in drawings (emoji of the demo) are left out",
          "apt install fonts-dejavu-core"};
}

Finding look_at_downloads() {
  if (is_offline()) return {"downloads", false, false, "ANNULUS_OFFLINE is set", "unset ANNULUS_OFFLINE"};
  const std::string npm = on_path("npm");
  if (npm.empty()) return {"downloads", false, false, "npm is not on the PATH", "apt install npm"};
  try {
    return {"downloads", true, false, fmt::format("{}, by {}", fetch_script().string(), npm)};
  } catch (const Error& error) {
    return {"downloads", false, false, error.what(),
            "export ANNULUS_SHARE=FOLDER, the one that holds fetch and tarballs.txt"};
  }
}

Finding look_at_network(const BackboneEntry& entry) {
  Finding finding{fmt::format("network {}", entry.name), false, false, "not downloaded yet",
                  fmt::format("annulus backbones get {}", entry.name)};
  std::error_code error;
  try {
    const std::filesystem::path file = cached_backbone(entry);
    if (std::filesystem::is_regular_file(file, error)) return {finding.subject, true, false, file.string()};
  } catch (const Error& no_cache) {
    finding.found = no_cache.what();
  }
  return finding;
}

bool is_there(const BackboneEntry& entry) {
  try {
    return is_cached(entry);
  } catch (const Error&) {
    return false;  // no cache: look_at_cache says so
  }
}

// Networks that are there; of the others only those that are a good choice, which a user may want to get.
void look_at_networks(std::vector<Finding>& findings) {
  try {
    for (const BackboneEntry& entry : known_backbones()) {
      const bool suggested = !entry.advice.empty() || !entry.npm_item.empty();
      if (suggested || is_there(entry)) findings.push_back(look_at_network(entry));
    }
    for (const auto& [name, entry] : featured_backbones()) {
      if (name == entry.name && is_there(entry)) findings.push_back(look_at_network(entry));
    }
    findings.push_back({"catalogue of networks", true, true, fmt::format("{} networks", known_backbones().size())});
  } catch (const Error& error) {
    findings.push_back({"catalogue of networks", false, true, error.what(),
                        fmt::format("mv {0} {0}.broken, or correct it", user_catalogue_file().string())});
  }
}

}  // namespace

std::vector<Finding> diagnose() {
  const Finding downloads = look_at_downloads();
  std::vector<Finding> findings{look_at_runtime(downloads.ok), look_at_cache(), look_at_disk(), downloads};
  look_at_networks(findings);
  findings.push_back(look_at_fonts());
  findings.push_back(look_at_processor());
  return findings;
}

bool all_needed(const std::vector<Finding>& findings) {
  return std::all_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.ok || !finding.needed; });
}

}  // namespace annulus
