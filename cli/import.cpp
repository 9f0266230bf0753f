// annulus import: turns a checkpoint of another program into an ONNX file that extract and fit can use.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "annulus/pipeline/import_backbone.h"
#include "annulus/vision/networks/architecture.h"
#include "cli/command.h"

namespace annulus::cli {
namespace {

struct ImportCommand {
  std::string checkpoint;
  std::string output;
  ImportOptions import;
  std::string feature;
  std::string json;
  RunOptions run;
};

void print_report(const ImportReport& report, const std::string& output) {
  if (report.tensors_used > 0) {
    fmt::print("{}: {} tensors, {}\n", report.arch, report.tensors_used, report.layout);
  } else {
    fmt::print("{}\n", report.layout);
  }
  fmt::print("image size {}, preprocessing {}\n", report.image_size,
             report.preprocess.empty() ? "not known" : report.preprocess);
  if (!report.feature.empty()) fmt::print("feature: {}\n", report.feature);
  for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
  for (const std::string& name : report.dropped) fmt::print("not used: {}\n", name);
  fmt::print("wrote {}\n", output);
}

nlohmann::ordered_json report_json(const ImportReport& report, const std::string& output) {
  return {{"output", output},
          {"arch", report.arch},
          {"layout", report.layout},
          {"image_size", report.image_size},
          {"preprocess", report.preprocess},
          {"feature", report.feature},
          {"source_sha256", report.source_sha256},
          {"tensors_used", report.tensors_used},
          {"dropped", report.dropped},
          {"notes", report.notes}};
}

void run_import(const ImportCommand& options) {
  ImportOptions import = options.import;
  import.feature = parse_token_feature(options.feature);
  const ImportReport report = import_checkpoint(options.checkpoint, import, options.output);
  if (!options.json.empty()) write_json(options.json, report_json(report, options.output));
  if (!options.run.quiet && options.json != "-") print_report(report, options.output);
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ImportCommand>();
  CLI::App& command = *app.add_subcommand("import", "Convert a checkpoint to an ONNX backbone");
  command
      .add_option(
          "CHECKPOINT", options->checkpoint,
          "PyTorch checkpoint (.pth, .pt, .pth.tar, .bin), TorchScript archive, safetensors file, TensorFlow.js "
          "model.json, or ready ONNX encoder; nothing in it is run")
      ->required()
      ->type_name("");
  command
      .add_option("--arch", options->import.arch,
                  "Network: " + known_architectures() + "; or spelled out, vit:width=384,depth=12,heads=6,patch=16")
      ->type_name("ARCH");
  command.add_option("-o,--output", options->output, "ONNX file to write")->required()->type_name("FILE");
  command
      .add_option("--image-size", options->import.image_size,
                  "Side of the image in pixels; 0: the usual one of the network")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--within", options->import.within, "Use only tensors whose name contains this, e.g. student")
      ->type_name("TEXT");
  command
      .add_option("--feature", options->feature,
                  "Feature of a transformer: cls (class token), mean (of the patch tokens) or cls+mean (both joined); "
                  "default: cls")
      ->type_name("KIND");
  command.add_option("--preprocess", options->import.preprocess, "Preset or recipe to store in the file")
      ->type_name("RECIPE");
  command.add_flag("--allow-inert-objects", options->import.allow_inert_objects,
                   "Pass over Python objects beside the weights instead of rejecting the file");
  add_quiet(command, options->run);
  add_json(command, options->json, "Write what was matched as JSON (without FILE: to standard output)");
  add_example(command, "  annulus import dino_deitsmall16_pretrain.pth --arch vit-s/16 -o dino-vits16.onnx");
  command.callback([options, &action] { action = [options] { run_import(*options); }; });
}

}  // namespace annulus::cli
