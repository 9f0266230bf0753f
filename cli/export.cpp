// annulus export: a model as ONNX, as a page for browsers, as C, as a card to read, or without its training examples.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "annulus/base/error.h"
#include "annulus/learn/model/model.h"
#include "annulus/pipeline/export/export_c.h"
#include "annulus/pipeline/export/export_onnx.h"
#include "annulus/pipeline/export/export_web.h"
#include "annulus/pipeline/export/model_card.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/models/model_file.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct ExportOptions {
  std::string model;
  std::string onnx;
  std::string c;
  std::string card;
  std::string stripped;
  std::string web;
  std::string title;
  std::string name = "annulus";
  std::string backbone;
  std::string json;
  bool head_only = false;
  bool no_check = false;
  RunOptions run;
};

struct ExportResult {
  bool images = false;  // the ONNX file takes images
  std::optional<OnnxExportReport> onnx;
  std::optional<OnnxExportReport> web;  // of the page's model
  WebPageSize web_size;
};

void check_outputs(const ExportOptions& options) {
  std::set<std::string> seen;
  for (const std::string& file : {options.onnx, options.c, options.card, options.stripped, options.web}) {
    if (!file.empty() && !seen.insert(std::filesystem::path(file).lexically_normal().string()).second) {
      fail(ErrorKind::kUsage, "expected a file of its own for each output, found {} twice", file);
    }
  }
  if (seen.empty()) {
    fail(ErrorKind::kUsage, "expected at least one of --onnx, --web, --c, --card and --stripped, found none");
  }
  if (options.onnx.empty() && options.head_only)
    fail(ErrorKind::kUsage, "--head-only concerns --onnx, which was not given");
  if (options.onnx.empty() && options.web.empty() && (options.no_check || !options.backbone.empty())) {
    fail(ErrorKind::kUsage, "--no-check and --backbone concern --onnx and --web, neither of which was given");
  }
  if (options.web.empty() && !options.title.empty()) {
    fail(ErrorKind::kUsage, "--title concerns --web, which was not given");
  }
  if (!options.web.empty()) check_web_folder(options.web);
  if (options.head_only && !options.backbone.empty()) {
    fail(ErrorKind::kUsage, "--head-only leaves the backbone out: expected no --backbone beside it");
  }
}

// True for a model whose record says by which network and from which preparation its features came.
bool knows_its_images(const Model& model) {
  return model.provenance.contains("backbone_sha256") && model.provenance.contains("preprocessing");
}

Encoder open_encoder_for(const ExportOptions& options, const Model& model, ProgressBar& bar) {
  EncoderOptions wanted;
  wanted.backbone = options.backbone;
  wanted.note = print_note;
  return open_encoder_of(model, options.model, wanted, bar.callback());
}

std::string web_title(const ExportOptions& options) {
  return options.title.empty() ? std::filesystem::path(options.model).stem().string() : options.title;
}

void write_web(const ExportOptions& options, const Model& model, const Encoder& encoder, ProgressBar& bar,
               ExportResult& result) {
  const WebPage page(model, encoder, {.title = web_title(options), .check = !options.no_check}, bar.callback());
  result.web_size = page.size();
  bar.clear();
  if (!options.run.quiet && options.json != "-") {
    constexpr double kMegabyte = 1e6;
    fmt::print("{} will have {:.1f} MB in {} files: {:.1f} MB of model and backbone, {:.1f} MB of ONNX Runtime\n",
               options.web, static_cast<double>(page.size().bytes) / kMegabyte, page.size().files,
               static_cast<double>(page.size().model_bytes) / kMegabyte,
               static_cast<double>(page.size().runtime_bytes) / kMegabyte);
    std::fflush(stdout);
  }
  result.web = page.write(options.web);
}

// What needs the backbone.
ExportResult write_graphs(const ExportOptions& options, const Model& model, ProgressBar& bar) {
  ExportResult result;
  const bool knows_images = knows_its_images(model) || !options.backbone.empty();
  if (!options.web.empty() && !knows_images) {
    fail(ErrorKind::kInput,
         "{}: a page recognises photos, and this model was trained on features of an unknown network: expected a model "
         "that was trained on photos, or the network's file (--backbone)",
         options.model);
  }
  result.images = !options.head_only && knows_images;
  const bool onnx = !options.onnx.empty();
  if (onnx && !result.images) result.onnx = export_onnx(model, options.onnx, !options.no_check);
  if (options.web.empty() && (!onnx || !result.images)) return result;
  const Encoder encoder = open_encoder_for(options, model, bar);
  if (onnx && result.images) result.onnx = export_onnx(model, encoder, options.onnx, !options.no_check);
  if (!options.web.empty()) write_web(options, model, encoder, bar, result);
  return result;
}

nlohmann::ordered_json result_json(const ExportOptions& options, const Model& model, const ExportResult& result) {
  nlohmann::ordered_json json = {
      {"model", options.model}, {"classes", model.head.classes()}, {"dimension", model.head.dimension()}};
  if (result.onnx) {
    const OnnxExportReport& onnx = *result.onnx;
    json["onnx"] = {
        {"file", options.onnx}, {"input", result.images ? "images" : "features"}, {"checked", onnx.checked}};
    if (onnx.checked) {
      json["onnx"]["rows"] = onnx.rows;
      json["onnx"]["max_difference"] = onnx.difference;
      json["onnx"]["tolerance"] = kExportTolerance;
    }
    if (onnx.images > 0) {
      json["onnx"]["images"] = onnx.images;
      json["onnx"]["image_max_difference"] = onnx.image_difference;
    }
  }
  if (result.web) {
    json["web"] = {{"folder", options.web},
                   {"files", result.web_size.files},
                   {"bytes", result.web_size.bytes},
                   {"model_bytes", result.web_size.model_bytes},
                   {"runtime_bytes", result.web_size.runtime_bytes},
                   {"checked", result.web->checked}};
    if (result.web->checked) {
      json["web"]["max_difference"] = result.web->difference;
      json["web"]["image_max_difference"] = result.web->image_difference;
    }
  }
  if (!options.c.empty()) json["c"] = {{"file", options.c}, {"name", options.name}};
  if (!options.card.empty()) json["card"] = options.card;
  if (!options.stripped.empty()) json["stripped"] = options.stripped;
  return json;
}

void print_result(const ExportOptions& options, const ExportResult& result) {
  if (result.onnx) {
    const OnnxExportReport& onnx = *result.onnx;
    fmt::print("wrote {}: {} to label, probabilities and unknown_score\n", options.onnx,
               result.images ? "images" : "features");
    if (onnx.checked) {
      fmt::print("same predictions as annulus predict for {} feature rows: largest difference {:.2g}\n", onnx.rows,
                 onnx.difference);
    } else {
      fmt::print("not checked\n");
    }
    if (onnx.images > 0) {
      fmt::print("and for {} random images: largest difference {:.2g}\n", onnx.images, onnx.image_difference);
    }
  }
  if (result.web) {
    fmt::print("wrote {}{}\n", options.web, result.web->checked ? "" : ": its model was not checked");
    fmt::print("to see it: python3 -m http.server --directory {}, then http://localhost:8000\n", options.web);
  }
  for (const std::string& file : {options.c, options.card, options.stripped}) {
    if (!file.empty()) fmt::print("wrote {}\n", file);
  }
}

void run_export(const ExportOptions& options) {
  check_outputs(options);
  Model model = read_model(options.model);
  ExportResult result;
  if (!options.onnx.empty() || !options.web.empty()) {
    ProgressBar bar(options.run.quiet);
    result = write_graphs(options, model, bar);
  }
  stop_if_interrupted();
  if (!options.c.empty()) export_c(model, options.name, options.c);
  if (!options.card.empty()) {
    write_file(options.card, model_card(model, std::filesystem::path(options.model).filename().string()));
  }
  if (!options.stripped.empty()) {
    strip(model);
    write_model(model, options.stripped);
  }
  if (!options.json.empty()) write_json(options.json, result_json(options, model, result));
  if (!options.run.quiet && options.json != "-") print_result(options, result);
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App& command =
      *app.add_subcommand("export", "Write a model as ONNX, as a page, as C, as a model card, or without its examples");
  command.add_option("MODEL", options->model, "Model file written by fit")->required()->type_name("");
  command
      .add_option("--onnx", options->onnx,
                  "ONNX file: takes images, or features if the model was trained on feature files")
      ->type_name("FILE");
  command
      .add_option("--web", options->web,
                  "Folder of static files that recognises photos in any browser: model, backbone, page")
      ->type_name("DIR");
  command.add_option("--title", options->title, "Web: heading of the page; default: the name of MODEL")
      ->type_name("TEXT");
  command.add_option("--c", options->c, "C99 header: takes features, needs math.h alone")->type_name("FILE");
  command.add_option("--card", options->card, "Model card: Markdown with YAML in front")->type_name("FILE");
  command.add_option("--stripped", options->stripped, "The same model, without its training examples")
      ->type_name("FILE");
  command.add_flag("--head-only", options->head_only, "ONNX: leave the backbone out and take features");
  command
      .add_option("--backbone", options->backbone,
                  "ONNX, web: the backbone, for a model that was trained with a file; default: what the model names")
      ->type_name("NAME|FILE");
  add_offline(command);
  command.add_flag("--no-check", options->no_check, "ONNX, web: do not compare its predictions with those of predict");
  command.add_option("--name", options->name, "C: prefix of its names")->type_name("NAME")->capture_default_str();
  add_quiet(command, options->run);
  add_json(command, options->json, "Write what was written and checked as JSON (without FILE: to standard output)");
  add_example(command,
              "  annulus export model.safetensors --onnx model.onnx --card README.md\n"
              "  annulus export model.safetensors --web page --title Birds\n"
              "  annulus export model.safetensors --c birds.h --name birds");
  command.callback([options, &action] { action = [options] { run_export(*options); }; });
}

}  // namespace annulus::cli
