// annulus backbones: lists the networks that can be had by name.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "annulus/store/backbone_registry.h"
#include "cli/command.h"

namespace annulus::cli {
namespace {

void run_backbones(const std::string& json_file) {
  if (json_file.empty()) {
    fmt::print("{:<16} {:>9} {:>5} {:>9}  {}\n", "name", "dimension", "image", "download", "network, data, licence");
    for (const BackboneEntry& entry : default_backbones()) {
      fmt::print("{:<16} {:>9} {:>5} {:>6.1f} MB  {}; {}; {}\n", entry.name, entry.dimension, entry.image_size,
                 entry.download_megabytes, entry.network, entry.trained_on, entry.licence);
    }
    return;
  }
  auto list = nlohmann::ordered_json::array();
  for (const BackboneEntry& entry : default_backbones()) {
    list.push_back({{"name", entry.name},
                    {"network", entry.network},
                    {"trained_on", entry.trained_on},
                    {"licence", entry.licence},
                    {"package", entry.package},
                    {"dimension", entry.dimension},
                    {"image_size", entry.image_size},
                    {"download_megabytes", entry.download_megabytes},
                    {"sha256", entry.sha256},
                    {"file", cached_backbone(entry).string()}});
  }
  write_json(json_file, list);
}

}  // namespace

void add_backbones(CLI::App& app, Action& action) {
  const auto json = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("backbones", "List the networks that can be had by name");
  add_json(command, *json, "Write the list as JSON (without FILE: to standard output)");
  add_example(command, "  annulus backbones");
  command.callback([json, &action] { action = [json] { run_backbones(*json); }; });
}

}  // namespace annulus::cli
