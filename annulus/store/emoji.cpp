// Draws the emoji that all houses share, in parallel, one PNG file each.
#include "annulus/store/emoji.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/store/atomic_file.h"
#include "annulus/store/fetch.h"
#include "annulus/store/icon_set.h"
#include "annulus/store/mapped_file.h"
#include "annulus/vision/svg.h"

namespace annulus {
namespace {

struct House {
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

House load_house(const std::string& name) {
  const std::filesystem::path folder = fetch("emoji-" + name);
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

std::vector<std::string> names_in_all(const std::vector<House>& houses) {
  std::vector<std::string> names;
  for (const auto& entry : houses.front().icons.drawings) {
    const std::string& name = entry.first;
    const bool everywhere = std::all_of(houses.begin(), houses.end(),
                                        [&](const House& house) { return house.icons.drawings.contains(name); });
    if (everywhere && safe_name(name)) names.push_back(name);
  }
  return names;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "could not make the folder {}: {}", folder.string(), error.message());
}

void write_licences(const std::filesystem::path& folder, const std::vector<House>& houses) {
  std::string text =
      "# Licences of the drawings\n\nEvery file HOUSE.png in this folder was drawn from the SVG of that house's set "
      "and keeps the set's licence.\n\n"
      "| house | set | author | licence | text |\n|---|---|---|---|---|\n";
  for (const House& house : houses) text += house.licence;
  write_file(folder / "LICENSES.md", text);
}

}  // namespace

const std::vector<std::string>& emoji_houses() {
  static const std::vector<std::string> names = {"noto",         "noto-v1",           "twemoji",  "openmoji",
                                                 "fluent-emoji", "fluent-emoji-flat", "emojione", "emojione-v1"};
  return names;
}

EmojiReport make_emoji(const std::filesystem::path& folder, const EmojiOptions& options,
                       const ProgressCallback& progress) {
  const std::vector<std::string>& chosen = options.houses.empty() ? emoji_houses() : options.houses;
  std::vector<House> houses;
  for (const std::string& name : chosen) {
    report(progress, {"read emoji sets", houses.size(), chosen.size(), name});
    houses.push_back(load_house(name));
  }
  std::vector<std::string> names = names_in_all(houses);
  if (!options.names.empty()) {
    std::erase_if(names, [&](const std::string& name) {
      return std::find(options.names.begin(), options.names.end(), name) == options.names.end();
    });
  }
  if (options.most_classes > 0) names.resize(std::min(names.size(), options.most_classes));
  make_folder(folder);
  write_licences(folder, houses);

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
      for (const House& house : houses) {
        const std::filesystem::path file = folder / name / (house.name + ".png");
        std::error_code error;
        if (std::filesystem::exists(file, error)) {
          const std::lock_guard lock(mutex);
          ++result.found;
          continue;
        }
        try {
          const auto png = render_svg(house.icons.drawings.at(name), options.side, name + " by " + house.name);
          write_file(file, as_text(png));
          const std::lock_guard lock(mutex);
          ++result.drawn;
        } catch (const Error& refusal) {
          if (refusal.kind() != ErrorKind::kFormat) throw;
          const std::lock_guard lock(mutex);
          result.skipped.emplace_back(refusal.what());
        }
      }
    });
  }
  report(progress, {"draw emoji", names.size(), names.size(), ""});
  std::sort(result.skipped.begin(), result.skipped.end());
  return result;
}

}  // namespace annulus
