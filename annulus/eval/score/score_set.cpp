// Predicts in blocks, and counts.
#include "annulus/eval/score/score_set.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "annulus/eval/score/known_labels.h"
#include "annulus/eval/score/level_counts.h"
#include "annulus/eval/score/prediction_counts.h"
#include "annulus/eval/score/training_match.h"
#include "annulus/learn/calibration/confidence_bins.h"

namespace annulus {
namespace {

constexpr std::size_t kTopClasses = 5;
constexpr std::array kCurveRates{0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5};

double percent_of(double part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * part / static_cast<double>(whole);
}
double percent_of(std::size_t part, std::size_t whole) { return percent_of(static_cast<double>(part), whole); }

// Takes predictions block by block.
class Scoring {
 public:
  Scoring(const Model& model, const FeatureSet& set, const ScoreSetOptions& options, const ClassTree& tree)
      : model_(model),
        set_(set),
        labels_(set, model.class_names),
        trained_on_(model.support),
        sure_(options.sure),
        levels_(tree) {
    report_.source = set.source();
    report_.may_reject = !model.unknown.empty();
    report_.false_reject = report_.may_reject ? options.false_reject : 0.0;
    if (report_.may_reject) threshold_ = unknown_threshold(model.unknown, options.false_reject);
    report_.classes.resize(model.class_names.size());
    for (std::size_t c = 0; c < report_.classes.size(); ++c) report_.classes[c].name = model.class_names[c];
  }

  void add(std::size_t first, std::span<const Prediction> predictions) {
    Matrix<float> rows;
    if (!trained_on_.empty()) {
      rows = Matrix<float>(predictions.size(), set_.dimension());
      set_.copy_rows(first, rows.view());
    }
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const auto truth = labels_.of(first + i);
      if (!truth) {
        ++report_.left_out;
        continue;
      }
      add_example(first + i, *truth, predictions[i]);
      if (!trained_on_.empty() && trained_on_.contains(std::as_const(rows).row(i))) ++report_.trained_on;
    }
  }

  ScoreReport finish() {
    report_.examples = counts_.accepted;
    report_.correct = counts_.correct;
    report_.unknown_inputs = counts_.unknown_inputs;
    report_.accuracy = *counts_.accuracy();
    report_.interval = wilson_interval(report_.correct, report_.examples);
    report_.chance = 100.0 / static_cast<double>(model_.class_names.size());
    if (model_.class_names.size() > kTopClasses) report_.top5 = percent_of(top5_, report_.examples);
    finish_classes();
    finish_pairs();
    finish_worst();
    finish_calibration();
    finish_rejection();
    if (!model_.parents.empty() && sure_ > 0.0) report_.groups = levels_.score(sure_);
    return std::move(report_);
  }

 private:
  void add_example(std::size_t row, std::int32_t truth, const Prediction& prediction) {
    const RankedClass& best = prediction.top.front();
    const auto label = static_cast<std::size_t>(set_.labels()[row]);
    ScoredExample example;
    example.row = row;
    if (!set_.paths().empty()) example.path = set_.paths()[row];
    example.label = set_.class_names()[label];
    example.known = truth != kUnknownClass;
    example.predicted = best.index;
    example.correct = truth == best.index;
    example.probability = best.probability;
    example.unknown_score = prediction.unknown_score;
    example.rejected = report_.may_reject && prediction.unknown_score < threshold_;
    counts_.add(truth, best.index, false);
    ++pairs_[{label, best.index}];
    truths_.push_back(truth);
    if (example.known) {
      ClassScore& own = report_.classes[static_cast<std::size_t>(truth)];
      ++own.examples;
      if (example.correct) ++own.correct;
      ++report_.classes[static_cast<std::size_t>(best.index)].predicted;
      if (std::any_of(prediction.top.begin(), prediction.top.end(),
                      [&](const RankedClass& ranked) { return ranked.index == truth; })) {
        ++top5_;
      }
      levels_.add(static_cast<std::size_t>(truth), prediction);
      add_confidence(bins_, static_cast<double>(best.probability), example.correct);
    }
    report_.scored.push_back(std::move(example));
  }

  void finish_classes() {
    std::size_t tested = 0;
    for (ClassScore& score : report_.classes) {
      if (score.predicted != 0) score.precision = percent_of(score.correct, score.predicted);
      if (score.examples == 0) continue;
      score.recall = percent_of(score.correct, score.examples);
      score.recall_interval = wilson_interval(score.correct, score.examples);
      report_.macro_recall += *score.recall;
      ++tested;
    }
    report_.macro_recall /= static_cast<double>(tested);
  }

  void finish_pairs() {
    std::map<std::size_t, UnknownLabel> unknown;
    for (const auto& [pair, count] : pairs_) {
      const std::string& name = set_.class_names()[pair.first];
      const bool known = labels_.class_of(pair.first) != kUnknownClass;
      report_.pairs.push_back({name, known, model_.class_names[static_cast<std::size_t>(pair.second)], count});
      if (known) continue;
      UnknownLabel& label = unknown[pair.first];
      label.name = name;
      label.examples += count;
    }
    for (const ScoredExample& example : report_.scored) {
      if (example.known || !example.rejected) continue;
      ++unknown[static_cast<std::size_t>(set_.labels()[example.row])].rejected;
    }
    for (auto& [label, entry] : unknown) report_.unknown_labels.push_back(std::move(entry));
  }

  void finish_worst() {
    for (std::size_t i = 0; i < report_.scored.size(); ++i) {
      if (report_.scored[i].known && !report_.scored[i].correct) report_.worst.push_back(i);
    }
    std::stable_sort(report_.worst.begin(), report_.worst.end(), [&](std::size_t a, std::size_t b) {
      return report_.scored[a].probability > report_.scored[b].probability;
    });
  }

  void finish_calibration() {
    double sum = 0.0;
    for (const ConfidenceBin& bin : bins_) {
      sum += bin.confidence;
      if (bin.count == 0) continue;
      report_.calibration.push_back(
          {bin.count, percent_of(bin.confidence, bin.count), percent_of(bin.correct, bin.count)});
    }
    report_.confidence = percent_of(sum, report_.examples);
    report_.calibration_error = expected_calibration_error(bins_);
  }

  RejectionPoint at(double rate) const {
    const float threshold = unknown_threshold(model_.unknown, rate);
    PredictionCounts counts;
    for (std::size_t i = 0; i < truths_.size(); ++i) {
      const ScoredExample& example = report_.scored[i];
      counts.add(truths_[i], example.predicted, example.unknown_score < threshold);
    }
    RejectionPoint point{rate, counts.false_rejections().value_or(0.0), counts.accuracy(), counts.caught()};
    point.expected_caught = unknown_catch_rate(model_.unknown, rate);
    if (point.expected_caught) *point.expected_caught *= 100.0;
    return point;
  }

  void finish_rejection() {
    if (!report_.may_reject) return;
    report_.rejection = at(report_.false_reject);
    for (const double rate : kCurveRates) report_.curve.push_back(at(rate));
  }

  const Model& model_;
  const FeatureSet& set_;
  KnownLabels labels_;
  TrainingMatch trained_on_;
  float threshold_ = 0.0F;
  double sure_;
  LevelCounts levels_;
  PredictionCounts counts_;  // without rejections
  std::size_t top5_ = 0;
  std::map<std::pair<std::size_t, std::int32_t>, std::size_t> pairs_;  // class of the set, class of the model -> count
  std::vector<std::int32_t> truths_;                                   // of each scored example
  std::array<ConfidenceBin, kConfidenceBins> bins_{};
  ScoreReport report_;
};

}  // namespace

ScoreReport score_set(const Model& model, const FeatureSet& set, const ScoreSetOptions& options,
                      const ProgressCallback& progress) {
  check_false_reject(options.false_reject);
  KnownLabels(set, model.class_names).check(set.source());
  // Every example gets its unknown score, whatever the rate; Scoring compares it with the threshold.
  const Predictor predictor(model, {kFalseReject, false, kTopClasses, options.threads, options.sure});
  Scoring scoring(model, set, options, predictor.tree());
  predict_set(
      predictor, set,
      [&](std::size_t first, std::span<const Prediction> predictions) { scoring.add(first, predictions); }, progress);
  return scoring.finish();
}

}  // namespace annulus
