// annulus backbones: lists the networks that are known by name, gets, removes, verifies and measures them, and learns
// metrics of networks.
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "annulus/pipeline/backbones/backbone_timing.h"
#include "annulus/pipeline/backbones/int8_backbone.h"
#include "annulus/pipeline/learn_metric.h"
#include "annulus/store/images/image_folder.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

// The columns of the table fit 100 characters.
std::string table_line(const BackboneEntry& entry) {
  const BackboneRecord record = read_backbone_record(entry.name);
  const double megabytes = download_megabytes(entry);
  const std::string measure = entry.imagenet_measure.substr(0, entry.imagenet_measure.find(','));
  std::string licence = entry.licence.substr(0, 14) + (entry.commercial_use ? "" : " *") + (entry.gated ? " +" : "");
  if (!entry.by_hand.empty() && !entry.gated) licence += " +";
  // Another feature has a line below that of its network.
  const std::string_view feature = std::string_view(entry.name).substr(network_of(entry.name).size());
  return fmt::format("{} {:<21} {:>4} {:>3} {:>5} {:<6} {:<15} {:>5} {:<13} {}\n", is_cached(entry) ? '>' : ' ',
                     feature.empty() ? entry.name : "  " + std::string(feature),
                     entry.dimension > 0 ? std::to_string(entry.dimension) : "?", entry.image_size,
                     megabytes > 0 ? fmt::format("{:.0f}", megabytes) : "?", entry.labels ? "yes" : "no",
                     entry.imagenet_accuracy > 0 ? fmt::format("{:.1f} {}", entry.imagenet_accuracy, measure) : "",
                     record.milliseconds > 0 ? fmt::format("{:.1f}", record.milliseconds) : "",
                     import_obstacle(entry) ? "no importer" : entry.advice, licence);
}

void print_table() {
  fmt::print("  {:<21} {:>4} {:>3} {:>5} {:<6} {:<15} {:>5} {:<13} {}\n", "name", "dim", "px", "MB", "labels",
             "ImageNet %", "ms", "choose", "licence");
  std::string_view family;
  for (const BackboneEntry* const entry : listed_backbones()) {
    if (entry->family != family) fmt::print("{}\n", entry->family);
    family = entry->family;
    fmt::print("{}", table_line(*entry));
  }
  fmt::print(
      "\n> on this machine   * commercial use is not allowed, as far as is known   + to be fetched by hand\n"
      "MB: the size of the download; ?: its publisher does not say\n"
      "ms: an image on one thread, once annulus backbones --measure NAME was run\n"
      "NAME:mean, NAME:cls+mean: a transformer's feature is the mean of its patch tokens, or both joined\n"
      "annulus backbones --json: addresses, checksums and sources\n");
}

nlohmann::ordered_json entry_json(const BackboneEntry& entry) {
  const BackboneRecord record = read_backbone_record(entry.name);
  const auto obstacle = import_obstacle(entry);
  nlohmann::ordered_json json = {{"name", entry.name},
                                 {"family", entry.family},
                                 {"network", entry.network},
                                 {"trained_on", entry.trained_on},
                                 {"labels", entry.labels},
                                 {"dimension", entry.dimension},
                                 {"image_size", entry.image_size},
                                 {"licence", entry.licence},
                                 {"commercial_use", entry.commercial_use},
                                 {"gated", entry.gated},
                                 {"licence_address", entry.licence_address},
                                 {"address", entry.npm_item.empty() ? entry.address : "npm:" + entry.package},
                                 {"sha256", entry.sha256},
                                 {"verified_by", entry.verified_by},
                                 {"by_hand", entry.by_hand},
                                 {"format", entry.format},
                                 {"arch", entry.arch},
                                 {"feature", entry.feature},
                                 {"preprocess", entry.preprocess},
                                 {"advice", entry.advice},
                                 {"usable", !obstacle},
                                 {"obstacle", obstacle.value_or("")},
                                 {"cached", is_cached(entry)},
                                 {"file", cached_backbone(entry).string()},
                                 {"onnx_sha256", entry.onnx_sha256.empty() ? record.onnx_sha256 : entry.onnx_sha256},
                                 {"source_sha256", record.source_sha256}};
  const auto add_known = [&](const char* name, double value) {
    json[name] = value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  add_known("download_megabytes", download_megabytes(entry));
  add_known("imagenet_accuracy", entry.imagenet_accuracy);
  json["imagenet_measure"] = entry.imagenet_measure;
  json["imagenet_source"] = entry.imagenet_source;
  add_known("milliseconds_an_image", record.milliseconds);
  json["measured_on"] = record.milliseconds_on;
  return json;
}

const BackboneEntry& entry_named(const std::string& name) {
  const BackboneEntry* const entry = find_backbone(name);
  if (entry == nullptr) {
    const std::string nearest = nearest_backbone(name);
    fail(ErrorKind::kUsage, "expected a name that annulus backbones lists, found \"{}\"{}", name,
         nearest.empty() ? "" : fmt::format(": is {} meant?", nearest));
  }
  return *entry;
}

struct ListCommand {
  std::string json;
  std::vector<std::string> measure;
};

void run_measure(const ListCommand& options) {
  auto list = nlohmann::ordered_json::array();
  for (const std::string& name : options.measure) {
    ProgressBar bar(options.json == "-");
    const ResolvedBackbone network = resolve_backbone(name, bar.callback(), print_note);
    const double milliseconds = measure_backbone(network, {}, bar.callback());
    bar.clear();
    if (options.json.empty()) fmt::print("{}: {:.1f} ms an image on one thread (median)\n", name, milliseconds);
    list.push_back({{"name", network.name}, {"milliseconds_an_image", milliseconds}});
  }
  if (!options.json.empty()) write_json(options.json, list);
}

void run_backbones(const ListCommand& options) {
  if (!options.measure.empty()) {
    run_measure(options);
    return;
  }
  if (options.json.empty()) {
    print_table();
    return;
  }
  auto list = nlohmann::ordered_json::array();
  for (const BackboneEntry* const entry : listed_backbones()) list.push_back(entry_json(*entry));
  write_json(options.json, list);
}

struct LearnMetricCommand {
  std::string network;
  std::vector<std::string> inputs;
  std::string output;
  std::string json;
  bool views = false;
  EncoderOptions encoder;
  RunOptions run;
};

// Where the metric goes when nobody says: beside the networks of the cache.
std::filesystem::path metric_output(const LearnMetricCommand& options, const BackboneMetric& metric) {
  if (!options.output.empty()) return options.output;
  const auto sha256 = metric.network.find("backbone_sha256");
  if (sha256 == metric.network.end()) {
    fail(ErrorKind::kUsage, "expected --output: the features do not say which network they came from");
  }
  const std::filesystem::path file = kept_metric_file(sha256->second);
  std::error_code ignored;  // the write says why it fails
  std::filesystem::create_directories(file.parent_path(), ignored);
  return file;
}

void run_learn_metric(const LearnMetricCommand& options) {
  BackboneMetric metric;
  {
    ProgressBar bar(options.run.quiet);
    LearnMetricOptions learning;
    learning.views = options.views;
    learning.seed = options.run.seed;
    learning.load.encoder = options.encoder;
    learning.load.encoder.backbone = options.network == "-" ? "" : options.network;
    learning.load.threads = options.run.threads;
    learning.load.progress = bar.callback();
    learning.load.note = notes_of(bar);
    metric = learn_metric(options.inputs, learning);
  }
  stop_if_interrupted();
  const std::filesystem::path file = metric_output(options, metric);
  const std::string checksum = write_metric(metric, file);
  if (!options.json.empty()) {
    nlohmann::ordered_json json = {{"file", file.string()},
                                   {"checksum", checksum},
                                   {"dimension", metric.dimension},
                                   {"axes", metric.prior.metric.rank()},
                                   {"power", metric.prior.power},
                                   {"shrinkage", metric.shrinkage},
                                   {"learnt_from", metric.views ? "views" : "labels"},
                                   {"sets", metric.sets},
                                   {"classes", metric.classes},
                                   {"examples", metric.examples},
                                   {"network", metric.network}};
    write_json(options.json, json);
  }
  if (options.run.quiet || options.json == "-") return;
  fmt::print("learnt {} axes of {} dimensions from {} {}{}\nwrote {}\n", metric.prior.metric.rank(), metric.dimension,
             metric.examples, metric.views ? "photos, by views" : "examples",
             metric.views ? std::string() : fmt::format(" of {} classes", metric.classes), file.string());
}

void add_learn_metric(CLI::App& backbones, Action& action) {
  const auto options = std::make_shared<LearnMetricCommand>();
  CLI::App& command = *backbones.add_subcommand("learn-metric", "Learn the metric that belongs to a network");
  command
      .add_option("NETWORK", options->network,
                  "Name of a network or ONNX file; -: features alone, whose network is not at hand")
      ->required()
      ->type_name("");
  command
      .add_option("INPUTS", options->inputs,
                  "Folders of photos with one folder per class, or labelled feature files; test examples are left out")
      ->required()
      ->type_name("");
  command
      .add_option("-o,--output", options->output,
                  "Metric file to write (.safetensors); default: the one kept for the network, which fits then use")
      ->type_name("FILE");
  add_encoder_options(command, options->encoder, "NETWORK");
  for (const char* const name : {"--backbone", "--feature", "--views"}) command.remove_option(command.get_option(name));
  command.add_flag("--views", options->views, "Learn from four random views of each photo, without labels");
  add_seed(command, options->run, "Seed of the views");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write what was learnt as JSON (without FILE: to standard output)");
  add_example(command,
              "  annulus backbones learn-metric mobilenet-0.25 photos/\n"
              "  annulus backbones learn-metric net.onnx photos/ --views -o metric.safetensors");
  command.callback([options, &action] { action = [options] { run_learn_metric(*options); }; });
}

struct QuantizeCommand {
  std::string network;
  std::vector<std::string> photos;
  std::string preprocess;
  std::string json;
  RunOptions run;
};

void run_quantize(const QuantizeCommand& options) {
  const Int8Record record = [&] {
    ProgressBar bar(options.run.quiet || options.json == "-");
    std::vector<std::string> paths;
    for (const std::string& folder : options.photos) {
      ImageList list = list_images(folder);
      paths.insert(paths.end(), std::make_move_iterator(list.paths.begin()), std::make_move_iterator(list.paths.end()));
    }
    Int8Options making;
    making.threads = options.run.threads;
    const ResolvedBackbone network = resolve_backbone(options.network, bar.callback(), print_note);
    return make_int8_backbone(network, options.preprocess, paths, making, bar.callback());
  }();
  if (!options.json.empty()) {
    write_json(options.json, {{"file", int8_file(record).string()},
                              {"sha256", record.sha256},
                              {"float32_sha256", record.float32_sha256},
                              {"photos", record.photos},
                              {"weight_bits", record.weight_bits},
                              {"gain", record.gain},
                              {"measured_on", record.measured_on},
                              {"error", record.error}});
  }
  if (options.run.quiet || options.json == "-") return;
  fmt::print(
      "{} photos, weights of {} bits, {:.2f} times as fast as float32, error {:.3f} of the distance between "
      "photos\nwrote {}\n",
      record.photos, record.weight_bits, record.gain, record.error, int8_file(record).string());
}

void add_quantize(CLI::App& backbones, Action& action) {
  const auto options = std::make_shared<QuantizeCommand>();
  CLI::App& command = *backbones.add_subcommand(
      "quantize", "Make the int8 form of a network from photos of your own choice, which --precision int8 then uses");
  command.add_option("NETWORK", options->network, "Name of a network, or an ONNX file")->required()->type_name("");
  command.add_option("PHOTOS", options->photos, "Folders of photos that the ranges are taken from")
      ->required()
      ->type_name("");
  command
      .add_option("--preprocess", options->preprocess,
                  "Preprocessing of images: a preset (imagenet, clip, ...) or a recipe; default: that of the network")
      ->type_name("RECIPE");
  add_offline(command);
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write what was made as JSON (without FILE: to standard output)");
  add_example(command, "  annulus backbones quantize resnet50 photos/");
  command.callback([options, &action] { action = [options] { run_quantize(*options); }; });
}

struct GetCommand {
  std::vector<std::string> names;
  std::string from;
  RunOptions run;
};

void run_get(const GetCommand& options) {
  if (!options.from.empty() && options.names.size() != 1) {
    fail(ErrorKind::kUsage, "expected one name with --from, found {}", options.names.size());
  }
  for (const std::string& name : options.names) {
    const ResolvedBackbone backbone = [&] {
      ProgressBar bar(options.run.quiet);
      if (!options.from.empty()) return install_backbone(entry_named(name), options.from, bar.callback(), print_note);
      return resolve_backbone(entry_named(name).name, bar.callback(), print_note);
    }();
    fmt::print("{}\n", backbone.file.string());
  }
}

void add_get(CLI::App& backbones, Action& action) {
  const auto options = std::make_shared<GetCommand>();
  CLI::App& command =
      *backbones.add_subcommand("get", "Download networks now, with ONNX Runtime, instead of at first use");
  command.add_option("NAMES", options->names, "Names of networks, as annulus backbones lists them, or NAME:FEATURE")
      ->required()
      ->type_name("");
  command.add_option("--from", options->from, "Take this file, which you got by hand, instead of downloading it")
      ->type_name("FILE");
  add_offline(command);
  add_quiet(command, options->run);
  add_example(command,
              "  annulus backbones get dinov2-vits14\n"
              "  annulus backbones get dinov3-vits16 --from dinov3_vits16_pretrain_lvd1689m-08c60483.pth");
  command.callback([options, &action] { action = [options] { run_get(*options); }; });
}

void add_remove(CLI::App& backbones, Action& action) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *backbones.add_subcommand("remove", "Remove downloaded networks from the cache");
  command.add_option("NAMES", *names, "Names of networks, as annulus backbones lists them")->required()->type_name("");
  add_example(command, "  annulus backbones remove dinov2-vits14");
  command.callback([names, &action] {
    action = [names] {
      for (const std::string& name : *names) {
        fmt::print("{}: {}\n", name, remove_backbone(entry_named(name)) ? "removed" : "was not there");
      }
    };
  });
}

void run_verify(const std::vector<std::string>& names) {
  std::vector<const BackboneEntry*> entries;
  for (const std::string& name : names) {
    entries.push_back(&entry_named(name));
    if (!is_cached(*entries.back())) fail(ErrorKind::kIo, "{} is not on this machine: nothing to verify", name);
  }
  if (names.empty()) {
    for (const BackboneEntry* const entry : listed_backbones()) {
      if (is_cached(*entry)) entries.push_back(entry);
    }
  }
  std::string damaged;
  for (const BackboneEntry* const entry : entries) {
    const auto fault = verify_backbone(*entry);
    fmt::print("{}: {}\n", entry->name, fault.value_or("ok"));
    if (fault) damaged += (damaged.empty() ? "" : ", ") + entry->name;
  }
  if (!damaged.empty()) {
    fail(ErrorKind::kFormat, "expected networks as they were imported, found others: {}; annulus backbones remove them",
         damaged);
  }
}

void add_verify(CLI::App& backbones, Action& action) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *backbones.add_subcommand("verify", "Compare downloaded networks with their checksums");
  command.add_option("NAMES", *names, "Names of networks; default: all that are on this machine")->type_name("");
  add_example(command, "  annulus backbones verify");
  command.callback([names, &action] { action = [names] { run_verify(*names); }; });
}

}  // namespace

void add_backbones(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ListCommand>();
  CLI::App& command =
      *app.add_subcommand("backbones", "List the networks that are known by name; get, remove, verify or measure them");
  add_json(command, options->json, "Write the list as JSON (without FILE: to standard output)");
  command
      .add_option("--measure", options->measure,
                  "Measure the milliseconds an image of this network, and keep them for the list")
      ->type_name("NAME");
  add_offline(command);
  add_example(command, "  annulus backbones\n  annulus backbones --measure mobilenet-0.25");
  command.callback([options, &action, &command] {
    if (command.get_subcommands().empty()) action = [options] { run_backbones(*options); };
  });
  add_get(command, action);
  add_quantize(command, action);
  add_remove(command, action);
  add_verify(command, action);
  add_learn_metric(command, action);
}

}  // namespace annulus::cli
