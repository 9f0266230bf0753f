// annulus predict: names the classes of images or feature rows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <unordered_map>

#include "annulus/base/error.h"
#include "annulus/eval/ranking.h"
#include "annulus/learn/model.h"
#include "annulus/learn/recipe.h"
#include "annulus/store/atomic_file.h"
#include "annulus/store/model_file.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/interrupt.h"
#include "cli/predict_input.h"
#include "cli/prediction_format.h"
#include "cli/progress_bar.h"

namespace annulus::cli {
namespace {

constexpr std::size_t kRowsPerBlock = 1024;

struct PredictOptions {
  std::string model;
  PredictInput input;
  std::string output = "-";
  std::string format = "text";
  std::size_t top = 5;
  RunOptions run;
};

// Counts right answers among rows whose label the model knows. Rows that may have been trained on are left out when the
// set marks them.
class Score {
 public:
  Score(const FeatureSet& set, const Model& model) : set_(set) {
    if (!set.labelled()) return;
    std::unordered_map<std::string_view, std::int32_t> index;
    for (const std::string& name : model.class_names) index.emplace(name, static_cast<std::int32_t>(index.size()));
    for (const std::string& name : set.class_names()) {
      const auto found = index.find(name);
      known_.push_back(found == index.end() ? -1 : found->second);
    }
  }

  void add(std::size_t row, std::int32_t predicted) {
    if (known_.empty() || (!set_.is_train().empty() && set_.is_train()[row] != 0)) return;
    const std::int32_t truth = known_[static_cast<std::size_t>(set_.labels()[row])];
    if (truth < 0) return;
    ++counted_;
    if (truth == predicted) ++right_;
  }

  bool known() const { return counted_ != 0; }
  std::string text() const {
    return fmt::format("accuracy {:.2f} % of {} labelled rows{}",
                       100.0 * static_cast<double>(right_) / static_cast<double>(counted_), counted_,
                       set_.is_train().empty() ? "" : " that are not training rows");
  }

 private:
  const FeatureSet& set_;
  std::vector<std::int32_t> known_;  // class of the set -> class of the model, -1 for a class it does not know
  std::size_t counted_ = 0;
  std::size_t right_ = 0;
};

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

void run_predict(const PredictOptions& options) {
  ProgressBar bar(options.run.quiet);
  const ProgressCallback progress = bar.callback();
  const Model model = read_model(options.model);
  const FeatureSet set = load_prediction_input(options.input, model, options.model, options.run.threads, bar);

  const std::size_t top = std::min(options.top, model.class_names.size());
  const PredictionWriter writer(prediction_format_from(options.format), model.class_names, !set.paths().empty(), top);
  Score score(set, model);
  LineOutput output(options.output);
  output.write(writer.header());
  Matrix<float> features(std::min(kRowsPerBlock, set.rows()), set.dimension());
  Matrix<float> probabilities(features.rows(), model.head.classes());
  for (std::size_t first = 0; first < set.rows(); first += kRowsPerBlock) {
    report(progress, {"predict", first, set.rows(), {}});
    const std::size_t count = std::min(kRowsPerBlock, set.rows() - first);
    set.copy_rows(first, features.view().rows_at(0, count));
    predict_probabilities(model.head, std::as_const(features).view().rows_at(0, count),
                          probabilities.view().rows_at(0, count), options.run.threads);
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) {
      const auto ranked = most_probable(probabilities.row(i), top);
      score.add(first + i, ranked.front().index);
      lines += writer.line(
          {first + i, set.paths().empty() ? std::string_view() : std::string_view(set.paths()[first + i]), ranked});
    }
    bar.clear();
    output.write(lines);
  }
  stop_if_interrupted();
  output.finish();
  if (score.known()) bar.note(score.text());
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App& command = *app.add_subcommand("predict", "Name the classes of images or feature rows");
  command.add_option("MODEL", options->model, "Model file written by fit")->required()->type_name("");
  command
      .add_option("INPUT", options->input.paths,
                  "Images and folders of images, or one feature file; -: standard input, one image or a list of paths")
      ->required()
      ->type_name("");
  command.add_option("--top", options->top, "Classes to list for each row")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command.add_option("--format", options->format, "How rows are written")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"text", "jsonl", "csv"}))
      ->capture_default_str();
  command.add_option("-o,--output", options->output, "File to write; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_option("--labels", options->input.labels, "Labels of a feature file that has none, for the accuracy")
      ->type_name("FILE");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_encoder_options(command, options->input.encoder, "what the model was trained with");
  add_example(command,
              "  annulus predict model.safetensors photo.jpg more-photos/ --top 3\n"
              "  annulus predict model.safetensors features.safetensors --top 3 --format jsonl -o out.jsonl");
  command.callback([options, &action] { action = [options] { run_predict(*options); }; });
}

}  // namespace annulus::cli
