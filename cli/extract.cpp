// annulus extract: turns images into a feature file.
#include "annulus/pipeline/extract.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "annulus/pipeline/encode.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/store/images/image_folder.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/processes/launch.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct ExtractCommand {
  std::string images;
  std::string output;
  std::string list;
  BoxOptions boxes;
  FrameOptions frames;
  bool hierarchy = false;
  std::string type = "f16";
  std::string json;
  EncoderOptions encoder;
  RunOptions run;
};

nlohmann::ordered_json report_json(const ExtractCommand& options, const Encoder& encoder, const ImageList& list,
                                   const ExtractReport& report) {
  const Provenance provenance = feature_provenance(encoder);
  return {{"output", options.output},
          {"backbone", encoder.name},
          {"backbone_sha256", provenance.at("backbone_sha256")},
          {"precision", precision_of(provenance)},
          {"preprocessing", provenance.at("preprocessing")},
          {"views", to_text(encoder.views)},
          {"dimension", encoder.dimension()},
          {"classes", list.class_names.size()},
          {"images", list.paths.size()},
          {"written", report.written},
          {"computed", report.computed},
          {"cached", report.cached},
          {"broken", report.broken},
          {"reasons", report.reasons},
          {"seconds", report.seconds}};
}

void run_extract(const ExtractCommand& options) {
  ImageListOptions list_options;
  list_options.list_file = options.list;
  list_options.boxes = options.boxes;
  list_options.frames = options.frames;
  list_options.nested = options.hierarchy;
  const ImageList list = list_images(options.images, list_options);
  ExtractReport report;
  const Encoder encoder = [&] {
    ProgressBar bar(options.run.quiet);
    for (const std::string& warning : list.warnings) bar.warn(warning);
    Encoder opened = open_encoder(options.encoder, bar.callback(), list.paths);
    ExtractOptions extracting = extract_options(options.encoder, opened, options.run.threads);
    extracting.type = options.type == "f32" ? FeatureType::kFloat32 : FeatureType::kFloat16;
    extracting.first_fraction = first_fraction();
    if (only_helps()) {
      report = encode_to_cache(list, opened, extracting, bar.callback());
    } else {
      report = encode_to_file(list, opened, extracting, options.output, bar.callback());
    }
    note_broken_images(report, notes_of(bar));
    return opened;
  }();
  if (only_helps()) return;
  if (!options.json.empty()) write_json(options.json, report_json(options, encoder, list, report));
  if (options.run.quiet || options.json == "-") return;
  fmt::print(
      "{} images of {} classes as features of {} dimensions by {}: {} computed, {} cached, {} left out, {:.1f} s\n",
      report.written, list.class_names.size(), encoder.dimension(), encoder.name, report.computed, report.cached,
      report.broken, report.seconds);
  fmt::print("wrote {}\n", options.output);
}

}  // namespace

void add_extract(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ExtractCommand>();
  CLI::App& command = *app.add_subcommand("extract", "Compute the features of images once, as a feature file");
  command
      .add_option("IMAGES", options->images,
                  "Folder of images: root/<class>/*, root/{train,test}/<class>/*, metadata.csv|jsonl, or flat; or one "
                  "image")
      ->required()
      ->type_name("");
  command.add_option("-o,--output", options->output, "Feature file to write (.safetensors or .npz)")
      ->required()
      ->type_name("FILE");
  command.add_option("--dtype", options->type, "Number type of the feature file")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"f16", "f32"}))
      ->capture_default_str();
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write the counts as JSON (without FILE: to standard output)");
  add_encoder_options(command, options->encoder, kAutoBackbone);
  add_view_examples(command, options->encoder);
  add_list(command, options->list);
  command.add_flag("--hierarchy", options->hierarchy,
                   "Folders in folders are classes, named by their path: birds/woodpeckers/downy");
  add_boxes(command, options->boxes, options->encoder);
  add_frames(command, options->frames);
  add_example(command, "  annulus extract photos/ --backbone mobilenet-0.25 -o features.safetensors");
  command.callback([options, &action] { action = [options] { run_extract(*options); }; });
}

}  // namespace annulus::cli
