// annulus predict: names the classes of images or feature rows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <unordered_map>

#include "annulus/base/error.h"
#include "annulus/learn/model.h"
#include "annulus/learn/recogniser.h"
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
  std::optional<double> false_reject;  // share of known things that may be refused
  bool explain = false;
  RunOptions run;
};

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Counts right answers among rows whose label the model knows, and refusals. Rows that may have been trained on are
// left out when the set marks them.
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

  void add(std::size_t row, std::int32_t predicted, bool refused) {
    if (known_.empty() || (!set_.is_train().empty() && set_.is_train()[row] != 0)) return;
    const std::int32_t truth = known_[static_cast<std::size_t>(set_.labels()[row])];
    if (truth < 0) {
      ++strangers_;
      if (refused) ++refused_strangers_;
    } else if (refused) {
      ++refused_;
    } else {
      ++answered_;
      if (truth == predicted) ++right_;
    }
  }

  bool known() const { return answered_ + refused_ != 0; }
  std::string text(bool may_refuse) const {
    const std::size_t rows = may_refuse ? answered_ : answered_ + refused_;
    std::string text = fmt::format("accuracy {:.2f} % of {} labelled rows{}{}", percent(right_, rows), rows,
                                   set_.is_train().empty() ? "" : " that are not training rows",
                                   may_refuse ? ", those that were answered" : "");
    if (!may_refuse) return text;
    text += fmt::format("; refused {} of {} rows of known classes ({:.2f} %)", refused_, answered_ + refused_,
                        percent(refused_, answered_ + refused_));
    if (strangers_ == 0) return text;
    return text + fmt::format(" and {} of {} of others ({:.2f} %)", refused_strangers_, strangers_,
                              percent(refused_strangers_, strangers_));
  }

 private:
  const FeatureSet& set_;
  std::vector<std::int32_t> known_;  // class of the set -> class of the model, -1 for a class it does not know
  std::size_t answered_ = 0;         // rows of known classes that were not refused
  std::size_t right_ = 0;
  std::size_t refused_ = 0;
  std::size_t strangers_ = 0;  // rows of other classes
  std::size_t refused_strangers_ = 0;
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

// The share of known things to refuse; 0 where the model cannot tell.
double share_to_refuse(const PredictOptions& options, const Model& model, ProgressBar& bar) {
  const double share = options.false_reject.value_or(kFalseReject);
  if (!(share >= 0.0 && share < 1.0)) {
    fail(ErrorKind::kUsage, "--false-reject expects a share from 0 to less than 1, found {}", share);
  }
  if (!model.unknown.empty()) return share;
  if (options.false_reject && share > 0.0) {
    bar.note(
        fmt::format("{} cannot know strangers and answers every row: fit it with three or more classes and five or "
                    "more rows, without --strip and --no-calibrate",
                    options.model));
  }
  return 0.0;
}

void run_predict(const PredictOptions& options) {
  ProgressBar bar(options.run.quiet);
  const ProgressCallback progress = bar.callback();
  const Model model = read_model(options.model);
  if (options.explain && model.support.empty()) {
    fail(ErrorKind::kInput, "{} keeps none of its training rows to explain answers by: fit it without --strip",
         options.model);
  }
  const double share = share_to_refuse(options, model, bar);
  const FeatureSet set = load_prediction_input(options.input, model, options.model, options.run.threads, bar);

  const std::size_t top = std::min(options.top, model.class_names.size());
  const PredictionWriter writer({prediction_format_from(options.format), model.class_names, !set.paths().empty(), top,
                                 share > 0.0, options.explain ? &model.support : nullptr, model.epsilon});
  const Recogniser recogniser(model, {share, options.explain, top, options.run.threads});
  Score score(set, model);
  LineOutput output(options.output);
  output.write(writer.header());
  Matrix<float> features(std::min(kRowsPerBlock, set.rows()), set.dimension());
  for (std::size_t first = 0; first < set.rows(); first += kRowsPerBlock) {
    report(progress, {"predict", first, set.rows(), {}});
    const std::size_t count = std::min(kRowsPerBlock, set.rows() - first);
    set.copy_rows(first, features.view().rows_at(0, count));
    const std::vector<Answer> answers = recogniser.answer(std::as_const(features).view().rows_at(0, count));
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) {
      score.add(first + i, answers[i].top.front().index, answers[i].refused);
      lines += writer.line(
          {first + i, set.paths().empty() ? std::string_view() : std::string_view(set.paths()[first + i]), answers[i]});
    }
    bar.clear();
    output.write(lines);
  }
  stop_if_interrupted();
  output.finish();
  if (score.known()) bar.note(score.text(share > 0.0));
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
  command
      .add_option_function<double>(
          "--false-reject", [options](const double& share) { options->false_reject = share; },
          "Share of known things that may be refused as unknown; 0: every row is answered (default 0.05)")
      ->type_name("SHARE");
  command.add_flag("--explain", options->explain,
                   "Add the nearest training rows, the runner-up and how far a row can move before its answer changes");
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
