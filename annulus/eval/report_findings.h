// What results documents say: the best method, whether its lead is more than noise, and which classes gain.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "annulus/eval/class_gain.h"
#include "annulus/eval/results_document.h"

namespace annulus {

// "All classes at once: cub.npz", after the file that was learnt from (without its folders).
std::string document_title(const ResultsDocument& document);
// Numbers of shots of a document, ascending; 0 (every row) is last.
std::vector<std::size_t> shots_of(const ResultsDocument& document);
// Methods in the order of their first result.
std::vector<std::string> methods_of(const ResultsDocument& document);
// Whether the document says that settings were chosen on test labels.
bool uses_test_labels(const ResultsDocument& document);
// Null where there is none.
const MethodResult* find_result(const ResultsDocument& document, const std::string& method, std::size_t shots);

enum class Verdict { kMoreThanNoise, kMayBeNoise, kUnknown };

// The most accurate method at a number of shots and its lead over the next.
struct Finding {
  std::size_t shots = 0;
  const MethodResult* best = nullptr;
  const MethodResult* next = nullptr;  // null: nothing to compare with
  double lead = 0.0;                   // points
  Verdict verdict = Verdict::kUnknown;
  std::string reason;  // what the verdict rests on, as half a sentence; may be empty
};

// Paired evidence decides: the document's own comparison (p below 0.05), else the 95 % interval of the difference over
// episodes that both methods saw (30 at least). A few draws are counted, not judged.
Finding find_best(const ResultsDocument& document, std::size_t shots);

// "ibm2 is the most accurate of 3 methods at 1 and 5 shots."
std::string headline(const ResultsDocument& document);
// "ibm2 gets 71.30 % right, 1.20 points more than baseline, the next best."
std::string finding_sentence(const Finding& finding);
// "The difference is more than noise": what finding.reason is the reason of.
std::string verdict_words(Verdict verdict);

// "1 shot", "5 shots", "all labelled examples".
std::string shots_phrase(std::size_t shots);
// "p < 0.001", "p = 0.012".
std::string p_value_text(double p_value);

inline constexpr std::size_t kGainBins = 10;

// Classes sorted by the baseline's accuracy, hardest first, cut into ten bins of equal size (within one class). Empty
// when either method has no accuracies of classes there, or fewer than ten classes have both.
std::vector<GainBin> class_gain(const ResultsDocument& document, std::size_t shots);

}  // namespace annulus
