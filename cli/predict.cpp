// annulus predict: predicts the classes of images or features.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/eval/score/known_labels.h"
#include "annulus/eval/score/prediction_counts.h"
#include "annulus/learn/model/consensus.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/pipeline/photo_keywords.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/models/model_file.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/predict/predict_input.h"
#include "cli/predict/prediction_format.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct PredictOptions {
  std::string model;
  PredictInput input;
  std::string output = "-";
  std::string format = "text";
  std::size_t top = 5;
  std::optional<double> false_reject;  // false-rejection rate
  bool explain = false;
  std::size_t consensus = 1;  // frames of a video that are predicted together
  double sure = kSure;        // probability from which on a class or a group is named
  bool write_xmp = false;     // labels as keywords beside the photos
  RunOptions run;
};

// What the counts say, for people.
std::string accuracy_text(const PredictionCounts& counts, bool marks_training, bool may_reject) {
  std::string text =
      fmt::format("accuracy {:.2f} % of {} labelled examples{}{}", counts.accuracy().value_or(0.0), counts.accepted,
                  marks_training ? " that are not training examples" : "", may_reject ? ", those not rejected" : "");
  if (!may_reject) return text;
  text += fmt::format("; rejected {} of {} examples of known classes ({:.2f} %)", counts.rejected, counts.known(),
                      counts.false_rejections().value_or(0.0));
  if (counts.unknown_inputs == 0) return text;
  return text + fmt::format(" and {} of {} of unknown classes ({:.2f} %)", counts.unknown_rejected,
                            counts.unknown_inputs, counts.caught().value_or(0.0));
}

// Where lines go: standard output, or a file that appears once all lines are in it.
class LineOutput {
 public:
  explicit LineOutput(const std::string& file) {
    if (file != "-") file_.emplace(file);
  }
  void write(std::string_view text) {
    if (file_) {
      file_->write(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  }
  void finish() {
    if (file_) file_->commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

// The false-rejection rate; 0 where the model cannot reject.
double false_rejection_rate(const PredictOptions& options, const Model& model, ProgressBar& bar) {
  const double fraction = options.false_reject.value_or(kFalseReject);
  check_false_reject(fraction);
  if (!model.unknown.empty()) return fraction;
  if (options.false_reject && fraction > 0.0) {
    bar.note(fmt::format(
        "{} cannot reject unknown inputs: fit it with three or more classes and five or more examples, without --strip "
        "and --no-calibrate",
        options.model));
  }
  return 0.0;
}

// Standard input may be a picture that is no file.
void check_sidecars(const PredictInput& input) {
  for (const std::string& path : input.paths) {
    if (path != "-") PhotoKeywords::check_writable(path);
  }
}

void run_predict(const PredictOptions& options) {
  ProgressBar bar(options.run.quiet);
  const ProgressCallback progress = bar.callback();
  if (options.write_xmp) check_sidecars(options.input);
  const Model model = read_model(options.model);
  if (options.explain && model.support.empty()) {
    fail(ErrorKind::kInput,
         "{}: expected a model with its training examples to explain predictions by, found one without: fit it without "
         "--strip",
         options.model);
  }
  const double fraction = false_rejection_rate(options, model, bar);
  const FeatureSet set = load_prediction_input(options.input, model, options.model, options.run.threads, bar);
  if (options.write_xmp && set.paths().empty()) {
    fail(ErrorKind::kInput, "expected photos to write sidecars for, found features without paths");
  }

  const std::size_t top = std::min(options.top, model.class_names.size());
  const PredictionWriter writer({prediction_format_from(options.format), model.class_names, !set.paths().empty(), top,
                                 fraction > 0.0, options.explain ? &model.support : nullptr, model.epsilon,
                                 tree_of(model)});
  const KnownLabels labels(set, model.class_names);
  PredictionCounts counts;
  PhotoKeywords keywords;
  LineOutput output(options.output);
  output.write(writer.header());
  const auto write = [&](std::size_t first, std::span<const Prediction> predictions) {
    std::string lines;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const std::size_t row = first + i;
      if (const auto truth = labels.of(row)) {
        counts.add(*truth, predictions[i].top.front().index, predictions[i].rejected);
      }
      const std::string_view path = set.paths().empty() ? std::string_view() : std::string_view(set.paths()[row]);
      lines += writer.line({row, path, predictions[i]});
      if (!options.write_xmp) continue;
      keywords.add(path, predictions[i].rejected ? std::string_view() : std::string_view(predictions[i].label));
    }
    bar.clear();
    output.write(lines);
  };
  predict_frames(model, {fraction, options.explain, top, options.run.threads, options.sure}, options.consensus, set,
                 write, progress);
  stop_if_interrupted();
  output.finish();
  if (options.write_xmp) {
    const std::size_t written = keywords.write(progress);
    bar.note(fmt::format("{} sidecars written for {} photos", written, keywords.photos()));
  }
  if (counts.known() != 0) bar.note(accuracy_text(counts, !set.is_train().empty(), fraction > 0.0));
  if (fraction <= 0.0) return;
  if (const auto caught = unknown_catch_rate(model.unknown, fraction)) bar.note(rejection_text(fraction, *caught));
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App& command = *app.add_subcommand("predict", "Predict the classes of images or features");
  command.add_option("MODEL", options->model, "Model file written by fit")->required()->type_name("");
  command
      .add_option("INPUT", options->input.paths,
                  "Images and folders of images, or one feature file; -: standard input, one image or a list of paths")
      ->required()
      ->type_name("");
  command.add_option("--top", options->top, "Classes to list per input")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command.add_option("--format", options->format, "Output format")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"text", "jsonl", "csv"}))
      ->capture_default_str();
  command
      .add_option_function<double>(
          "--false-reject", [options](const double& fraction) { options->false_reject = fraction; },
          "False-rejection rate: fraction of known inputs that may be rejected as unknown; 0: reject none. Default: "
          "0.05")
      ->type_name("RATE");
  command
      .add_option("--sure", options->sure,
                  "Of a model whose classes have groups: name the smallest group, or the class, that is at least as "
                  "probable as this; 0: always a class")
      ->type_name("P")
      ->capture_default_str();
  command.add_flag("--explain", options->explain,
                   "Add the nearest training examples, the runner-up and the distance to the decision boundary");
  command.add_option("-o,--output", options->output, "File to write; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_flag(
      "--write-xmp", options->write_xmp,
      "Write labels as keywords into XMP sidecars beside the photos (photo.jpg.xmp), for digiKam, darktable "
      "and Lightroom");
  command.add_option("--labels", options->input.labels, "Labels of a feature file that has none, for the accuracy")
      ->type_name("FILE");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_encoder_options(command, options->input.encoder, "what the model was trained with");
  add_boxes(command, options->input.boxes, options->input.encoder);
  add_frames(command, options->input.frames);
  command
      .add_option("--consensus", options->consensus,
                  "Frames of a video, an odd number, whose mean is the prediction of the one in the middle")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str()
      ->group("Image options");
  add_example(command,
              "  annulus predict model.safetensors photo.jpg more-photos/ --top 3\n"
              "  annulus predict model.safetensors features.safetensors --top 3 --format jsonl -o out.jsonl");
  command.callback([options, &action] { action = [options] { run_predict(*options); }; });
}

}  // namespace annulus::cli
