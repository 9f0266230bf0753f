// Passes the options of features on to the library.
#include "cli/load_data.h"

#include "cli/processes/launch.h"

namespace annulus::cli {

void add_labels(CLI::App& command, DataOptions& options) {
  command
      .add_option("--labels", options.labels, "Labels of a feature file that has none: .npy, or text with one per line")
      ->type_name("FILE");
  command.add_flag("!--no-verify", options.verify, "Do not compare a feature file with the checksum that it holds");
}

void add_list(CLI::App& command, std::string& list) {
  command.add_option("--list", list, "k-shot list: use only the images it names, in its order")
      ->type_name("FILE")
      ->group("Image options");
}

void add_boxes(CLI::App& command, BoxOptions& boxes, EncoderOptions& encoder) {
  constexpr const char* kGroup = "Image options";
  command
      .add_option("--boxes", boxes.file,
                  "Boxes in photos, each an example: COCO or MegaDetector JSON, or metadata with x, y, width, height")
      ->type_name("FILE")
      ->group(kGroup);
  command.add_option("--box-confidence", boxes.confidence, "Pass over boxes that MegaDetector is less sure of")
      ->type_name("FRACTION")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--crop-margin", encoder.crop_margin,
                  "Added on each side of a box, as a fraction of its width (height); default: 0, or the model's")
      ->type_name("FRACTION")
      ->group(kGroup);
}

void add_frames(CLI::App& command, FrameOptions& frames) {
  constexpr const char* kGroup = "Image options";
  command.add_option("--every", frames.every, "Take videos too: one frame in each period of so many seconds")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber.description(""))
      ->group(kGroup);
  command.add_flag("--scenes", frames.scenes, "Take videos too: the first frame of each scene")->group(kGroup);
}

void add_base(CLI::App& command, std::string& path) {
  command
      .add_option("--base", path,
                  "Base classes: feature file or folder of images of other classes, for methods that need them")
      ->type_name("FILE");
}

std::optional<BaseClasses> load_base(const std::string& path, const EncoderOptions& encoder, int threads,
                                     ProgressBar& bar) {
  if (path.empty()) return std::nullopt;
  return std::make_optional<BaseClasses>(load_data({path, {}, encoder}, threads, bar));
}

NoteCallback notes_of(ProgressBar& bar) {
  return [&bar](const std::string& note) { bar.warn(note); };
}

LoadOptions load_options(const DataOptions& options, int threads, ProgressBar& bar) {
  return {options.labels, options.list,   options.encoder, threads,        first_fraction(), bar.callback(),
          notes_of(bar),  options.verify, options.boxes,   options.frames, options.nested};
}

FeatureSet load_data(const DataOptions& options, int threads, ProgressBar& bar) {
  return load_set(options.path, load_options(options, threads, bar));
}

}  // namespace annulus::cli
