// Conclusions from results documents: the best method, whether its lead is more than noise, and which classes gain.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "annulus/eval/metrics/class_gain.h"
#include "annulus/report/documents/results_document.h"

namespace annulus {

// "All classes at once: cub.npz", named after the file of the training examples (without its folders).
std::string document_title(const ResultsDocument& document);
// Numbers of shots of a document, ascending; 0 (all examples) is last.
std::vector<std::size_t> shots_of(const ResultsDocument& document);
// Methods in the order of their first result.
std::vector<std::string> methods_of(const ResultsDocument& document);
// Whether settings were chosen on test labels.
bool uses_test_labels(const ResultsDocument& document);
// Null where there is no such result.
const MethodResult* find_result(const ResultsDocument& document, const std::string& method, std::size_t shots);

enum class Verdict { kMoreThanNoise, kMayBeNoise, kUnknown };

// The most accurate method at a number of shots and its lead over the next.
struct Finding {
  std::size_t shots = 0;
  const MethodResult* best = nullptr;
  const MethodResult* next = nullptr;  // null: there is no other method
  double lead = 0.0;                   // points
  Verdict verdict = Verdict::kUnknown;
  std::string reason;  // the reason of the verdict, as half a sentence; may be empty
};

// Paired differences decide: the document's own comparison (p below 0.05), else the same test of the two methods'
// accuracies per class (at least 6), else the 95 % interval of the difference over episodes that both methods saw (at
// least 30). Without any of these, wins are counted but there is no verdict.
Finding find_best(const ResultsDocument& document, std::size_t shots);

// "What fit does (default) is the most accurate of 3 methods at 1 and 5 shots. The lead over the next best is more than
// noise."
std::string headline(const ResultsDocument& document);
// What a method is, with its name: "what fit does (default)"; the name alone where it is that of a paper.
std::string method_words(const std::string& method);
// "ibm2 gets 71.30 % right, 1.20 points more than baseline, the next best."
std::string finding_sentence(const Finding& finding);
// "The difference is more than noise": the statement that finding.reason supports.
std::string verdict_words(Verdict verdict);

// "1 shot", "5 shots", "all labelled examples".
std::string shots_phrase(std::size_t shots);
// "p < 0.001", "p = 0.012".
std::string p_value_text(double p_value);

inline constexpr std::size_t kGainBins = 10;

// Classes sorted by the baseline's accuracy, hardest first, divided into ten bins of equal size (within one class).
// Empty when either method has no accuracies per class there, or fewer than ten classes have both.
std::vector<GainBin> class_gain(const ResultsDocument& document, std::size_t shots);

}  // namespace annulus
