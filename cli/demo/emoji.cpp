// Draws the emoji that all vendors share, in parallel, one PNG file each.
#include "cli/demo/emoji.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/pipeline/download/download.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/vision/image/svg.h"
#include "cli/demo/icon_set.h"

namespace annulus {
namespace {

struct Vendor {
  std::string name;
  IconSet icons;
  std::string licence;  // a line for LICENSES.md
};

std::string licence_line(const std::string& name, std::string_view text, const std::string& source) {
  try {
    const auto info = nlohmann::json::parse(text);
    const auto& author = info.at("author");
    const auto& licence = info.at("license");
    return fmt::format("| {} | {} | {} | {} | {} |\n", name, info.at("name").get<std::string>(),
                       author.value("name", "unknown"), licence.value("spdx", licence.value("title", "unknown")),
                       licence.value("url", author.value("url", "")));
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected the description of an icon set: {}", source, error.what());
  }
}

Vendor load_vendor(const std::string& name, const ProgressCallback& progress, const Progress& step) {
  const std::filesystem::path folder = fetch("emoji-" + name, progress, step);
  const FileBytes icons = map_file(folder / "icons.json");
  const FileBytes info = map_file(folder / "info.json");
  return {name, parse_icon_set(as_text(icons.bytes), icons.source),
          licence_line(name, as_text(info.bytes), info.source)};
}

// A name becomes a folder: it must not be able to lead anywhere else.
bool safe_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::vector<std::string> names_in_all(const std::vector<Vendor>& vendors) {
  std::vector<std::string> names;
  for (const auto& entry : vendors.front().icons.drawings) {
    const std::string& name = entry.first;
    const bool everywhere = std::all_of(vendors.begin(), vendors.end(),
                                        [&](const Vendor& vendor) { return vendor.icons.drawings.contains(name); });
    if (everywhere && safe_name(name)) names.push_back(name);
  }
  return names;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "could not make the folder {}: {}", folder.string(), error.message());
}

void write_licences(const std::filesystem::path& folder, const std::vector<Vendor>& vendors) {
  std::string text =
      "# Licences of the drawings\n\nEvery file VENDOR.png in this folder was drawn from the SVG of that vendor's set "
      "and keeps the set's licence.\n\n"
      "| vendor | set | author | licence | text |\n|---|---|---|---|---|\n";
  for (const Vendor& vendor : vendors) text += vendor.licence;
  write_file(folder / "LICENSES.md", text);
}

}  // namespace

const std::vector<std::string>& emoji_vendors() {
  static const std::vector<std::string> names = {"noto",         "noto-v1",           "twemoji",  "openmoji",
                                                 "fluent-emoji", "fluent-emoji-flat", "emojione", "emojione-v1"};
  return names;
}

EmojiReport make_emoji(const std::filesystem::path& folder, const EmojiOptions& options,
                       const ProgressCallback& progress) {
  const std::vector<std::string>& chosen = options.vendors.empty() ? emoji_vendors() : options.vendors;
  std::vector<Vendor> vendors;
  for (const std::string& name : chosen) {
    vendors.push_back(load_vendor(name, progress, {"get emoji sets", vendors.size(), chosen.size(), name}));
  }
  std::vector<std::string> names = names_in_all(vendors);
  if (!options.names.empty()) {
    std::erase_if(names, [&](const std::string& name) {
      return std::find(options.names.begin(), options.names.end(), name) == options.names.end();
    });
  }
  if (options.most_classes > 0) names.resize(std::min(names.size(), options.most_classes));
  make_folder(folder);
  write_licences(folder, vendors);

  EmojiReport result;
  result.classes = names.size();
  std::mutex mutex;
  // In blocks, so that the progress is told from this thread.
  constexpr std::size_t kBlock = 32;
  for (std::size_t first = 0; first < names.size(); first += kBlock) {
    report(progress, {"draw emoji", first, names.size(), names[first]});
    parallel_for(options.threads, std::min(kBlock, names.size() - first), [&](std::size_t task) {
      const std::string& name = names[first + task];
      make_folder(folder / name);
      for (const Vendor& vendor : vendors) {
        const std::filesystem::path file = folder / name / (vendor.name + ".png");
        std::error_code error;
        if (std::filesystem::exists(file, error)) {
          const std::lock_guard lock(mutex);
          ++result.found;
          continue;
        }
        try {
          const auto png = render_svg(vendor.icons.drawings.at(name), options.side, name + " by " + vendor.name);
          write_file(file, as_text(png));
          const std::lock_guard lock(mutex);
          ++result.drawn;
        } catch (const Error& rejection) {
          if (rejection.kind() != ErrorKind::kFormat) throw;
          const std::lock_guard lock(mutex);
          result.skipped.emplace_back(rejection.what());
        }
      }
    });
  }
  report(progress, {"draw emoji", names.size(), names.size(), ""});
  std::sort(result.skipped.begin(), result.skipped.end());
  return result;
}

}  // namespace annulus
