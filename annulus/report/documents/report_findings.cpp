// Derives conclusions from results documents and describes them in sentences.
#include "annulus/report/documents/report_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "annulus/eval/metrics/statistics.h"
#include "annulus/report/documents/results_json.h"
#include "annulus/report/tables/result_text.h"

namespace annulus {
namespace {

constexpr double kSignificant = 0.05;
constexpr std::size_t kEnoughClasses = 6;  // with fewer, no pattern of signs has a probability below kSignificant
constexpr std::size_t kEnoughPairs = 30;   // for an interval based on the normal distribution

// Differences between the accuracies of two methods on the same splits or episodes.
std::vector<double> paired_differences(const MethodResult& a, const MethodResult& b) {
  std::vector<double> differences;
  for (std::size_t s = 0; s < std::min(a.accuracies.size(), b.accuracies.size()); ++s) {
    if (a.accuracies[s].size() != b.accuracies[s].size()) return {};
    for (std::size_t i = 0; i < a.accuracies[s].size(); ++i) {
      differences.push_back(a.accuracies[s][i] - b.accuracies[s][i]);
    }
  }
  std::map<std::uint64_t, double> of_seed;
  for (const ResultsRun& run : b.runs) {
    if (run.seed && run.accuracy) of_seed[*run.seed] = *run.accuracy;
  }
  for (const ResultsRun& run : a.runs) {
    if (!run.seed || !run.accuracy) continue;
    if (const auto found = of_seed.find(*run.seed); found != of_seed.end()) {
      differences.push_back(*run.accuracy - found->second);
    }
  }
  return differences;
}

void judge_by_interval(Finding& finding, double difference, double interval) {
  finding.verdict = std::abs(difference) > interval ? Verdict::kMoreThanNoise : Verdict::kMayBeNoise;
  finding.reason = fmt::format("the 95 % interval of the difference is {:.2f} to {:.2f} points", difference - interval,
                               difference + interval);
}

// The test of evaluate, for two methods that it did not compare: it compares each with one method only. False where the
// document has no accuracies per class.
bool judge_by_classes(Finding& finding) {
  std::vector<double> ours;
  std::vector<double> theirs;
  for (std::size_t c = 0; c < std::min(finding.best->recall.size(), finding.next->recall.size()); ++c) {
    if (!finding.best->recall[c] || !finding.next->recall[c]) continue;
    ours.push_back(*finding.best->recall[c]);
    theirs.push_back(*finding.next->recall[c]);
  }
  if (ours.size() < kEnoughClasses) return false;
  const PairedDifference paired = compare_pairs(ours, theirs, 0);
  finding.verdict = paired.p_value < kSignificant ? Verdict::kMoreThanNoise : Verdict::kMayBeNoise;
  finding.reason = p_value_text(paired.p_value) + ", " + test_name("class");
  return true;
}

void judge(const ResultsDocument& document, Finding& finding) {
  for (const PairedComparison& comparison : document.comparisons) {
    const bool same = comparison.method == finding.best->method && comparison.against == finding.next->method;
    const bool swapped = comparison.against == finding.best->method && comparison.method == finding.next->method;
    if (comparison.shots != finding.shots || !(same || swapped)) continue;
    if (comparison.p_value) {
      finding.verdict = *comparison.p_value < kSignificant ? Verdict::kMoreThanNoise : Verdict::kMayBeNoise;
      finding.reason = p_value_text(*comparison.p_value);
      if (!comparison.test.empty()) finding.reason += ", " + comparison.test;
      return;
    }
    if (comparison.interval) {
      return judge_by_interval(finding, same ? comparison.difference : -comparison.difference, *comparison.interval);
    }
  }
  if (judge_by_classes(finding)) return;
  const std::vector<double> differences = paired_differences(*finding.best, *finding.next);
  if (differences.empty()) return;
  const auto count = static_cast<double>(differences.size());
  if (differences.size() < kEnoughPairs) {
    const auto ahead = std::count_if(differences.begin(), differences.end(), [](double d) { return d > 0.0; });
    finding.reason = fmt::format("it was ahead in {} of {} {}", ahead, differences.size(),
                                 differences.size() == 1 ? "split" : "splits");
    return;
  }
  double mean = 0.0;
  for (const double difference : differences) mean += difference / count;
  double squares = 0.0;
  for (const double difference : differences) squares += (difference - mean) * (difference - mean);
  judge_by_interval(finding, mean, 1.96 * std::sqrt(squares / (count - 1.0) / count));
}

// "1 and 5 shots", "1, 5 and all shots".
std::string shots_list(const std::vector<std::size_t>& shots) {
  std::string text;
  for (std::size_t i = 0; i < shots.size(); ++i) {
    if (i > 0) text += i + 1 == shots.size() ? " and " : ", ";
    text += shots_text(shots[i]);
  }
  return text + (shots.size() == 1 && shots.front() == 1 ? " shot" : " shots");
}

}  // namespace

std::string document_title(const ResultsDocument& document) {
  std::string_view source = document.train_source.empty() ? document.name : document.train_source;
  while (source.size() > 1 && source.back() == '/') source.remove_suffix(1);
  source.remove_prefix(std::min(source.find_last_of('/') + 1, source.size() - std::min<std::size_t>(source.size(), 1)));
  return fmt::format("{}: {}", document.protocol == ResultsProtocol::kManyWay ? "All classes at once" : "Episodes",
                     source);
}

std::vector<std::size_t> shots_of(const ResultsDocument& document) {
  std::vector<std::size_t> shots;
  for (const MethodResult& result : document.results) shots.push_back(result.shots);
  // Shots 0 means all examples and sorts last: 0 - 1 wraps to the largest value.
  std::sort(shots.begin(), shots.end(), [](std::size_t a, std::size_t b) { return a - 1 < b - 1; });
  shots.erase(std::unique(shots.begin(), shots.end()), shots.end());
  return shots;
}

std::vector<std::string> methods_of(const ResultsDocument& document) {
  std::vector<std::string> methods;
  for (const MethodResult& result : document.results) {
    if (std::find(methods.begin(), methods.end(), result.method) == methods.end()) methods.push_back(result.method);
  }
  return methods;
}

bool uses_test_labels(const ResultsDocument& document) {
  return document.metadata && document.metadata->test_labels_used.value_or(false);
}

const MethodResult* find_result(const ResultsDocument& document, const std::string& method, std::size_t shots) {
  for (const MethodResult& result : document.results) {
    if (result.method == method && result.shots == shots) return &result;
  }
  return nullptr;
}

Finding find_best(const ResultsDocument& document, std::size_t shots) {
  Finding finding;
  finding.shots = shots;
  for (const MethodResult& result : document.results) {
    if (result.shots != shots) continue;
    if (finding.best == nullptr || result.accuracy > finding.best->accuracy) {
      finding.next = finding.best;
      finding.best = &result;
    } else if (finding.next == nullptr || result.accuracy > finding.next->accuracy) {
      finding.next = &result;
    }
  }
  if (finding.best == nullptr || finding.next == nullptr) return finding;
  finding.lead = finding.best->accuracy - finding.next->accuracy;
  judge(document, finding);
  return finding;
}

std::string shots_phrase(std::size_t shots) {
  if (shots == 0) return "all labelled examples";
  return shots == 1 ? "1 shot" : fmt::format("{} shots", shots);
}

std::string p_value_text(double p_value) {
  return p_value < 0.001 ? "p < 0.001" : fmt::format("p = {:.{}f}", p_value, p_value < 0.1 ? 3 : 2);
}

namespace {

// Names like ibm2 stay as they are written everywhere else.
std::string as_sentence(std::string text) {
  for (const char* word :
       {"what ", "the ", "a ", "tuned ", "nearest ", "ridge ", "linear ", "logistic ", "pairwise ", "distribution "}) {
    if (text.starts_with(word)) text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
}

// " The lead over the next best is more than noise at 1 and 5 shots and may be noise at 16 shots."; empty where there
// is one method.
std::string known_of_leads(const ResultsDocument& document) {
  std::map<Verdict, std::vector<std::size_t>> shots_with;
  for (const std::size_t shots : shots_of(document)) {
    const Finding finding = find_best(document, shots);
    if (finding.next != nullptr) shots_with[finding.verdict].push_back(shots);
  }
  std::string text;
  for (const auto& [verdict, shots] : shots_with) {
    const char* what = verdict == Verdict::kMoreThanNoise ? "is more than noise"
                       : verdict == Verdict::kMayBeNoise  ? "may be noise"
                                                          : "could not be tested";
    text += text.empty() ? " The lead over the next best " : shots == shots_with.rbegin()->second ? " and " : ", ";
    text += shots_with.size() == 1 ? std::string(what) : fmt::format("{} at {}", what, shots_list(shots));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

std::string headline(const ResultsDocument& document) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> winners;
  for (const std::size_t shots : shots_of(document)) {
    const std::string& best = find_best(document, shots).best->method;
    const auto found =
        std::find_if(winners.begin(), winners.end(), [&](const auto& winner) { return winner.first == best; });
    if (found == winners.end()) {
      winners.push_back({best, {shots}});
    } else {
      found->second.push_back(shots);
    }
  }
  const std::size_t methods = methods_of(document).size();
  const std::string among =
      methods == 1 ? "the only method measured" : fmt::format("the most accurate of {} methods", methods);
  std::string text =
      fmt::format("{} is {} at {}", method_words(winners.front().first), among, shots_list(winners.front().second));
  for (std::size_t i = 1; i < winners.size(); ++i) {
    text += fmt::format("{} {} at {}", i + 1 == winners.size() ? " and" : ",", method_words(winners[i].first),
                        shots_list(winners[i].second));
  }
  return as_sentence(text) + "." + known_of_leads(document);
}

std::string method_words(const std::string& method) {
  static const std::map<std::string, std::string> kWords = {{"default", "what fit does"},
                                                            {"ncm", "the nearest prototype"},
                                                            {"simpleshot", "SimpleShot"},
                                                            {"knn", "nearest neighbours"},
                                                            {"cache", "Tip-Adapter's cache"},
                                                            {"gda", "Gaussian discriminant analysis"},
                                                            {"lda", "linear discriminant analysis"},
                                                            {"fecam", "FeCAM"},
                                                            {"ridge", "ridge regression"},
                                                            {"ridge-cv", "tuned ridge regression"},
                                                            {"ranpac", "RanPAC"},
                                                            {"logistic", "logistic regression"},
                                                            {"logistic-cv", "tuned logistic regression"},
                                                            {"lp++", "LP++"},
                                                            {"linear-svm", "a linear SVM"},
                                                            {"svm", "pairwise linear SVMs"},
                                                            {"dc", "distribution calibration"},
                                                            {"baseline", "the plain head"}};
  const auto found = kWords.find(method);
  return found == kWords.end() ? method : fmt::format("{} ({})", found->second, method);
}

std::string finding_sentence(const Finding& finding) {
  std::string text = fmt::format("{} gets {:.2f} % right", method_words(finding.best->method), finding.best->accuracy);
  if (finding.next == nullptr) return text + "; there is no other method to compare it with.";
  if (finding.lead < 0.005) {
    text += fmt::format(", as much as {}", method_words(finding.next->method));
  } else {
    text += fmt::format(", {:.2f} {} more than {}, the next best", finding.lead,
                        fmt::format("{:.2f}", finding.lead) == "1.00" ? "point" : "points",
                        method_words(finding.next->method));
  }
  return text + ".";
}

std::string verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMoreThanNoise:
      return "The difference is more than noise";
    case Verdict::kMayBeNoise:
      return "The difference may be noise";
    case Verdict::kUnknown:
      break;
  }
  return "Whether the difference is more than noise was not tested";
}

std::vector<GainBin> class_gain(const ResultsDocument& document, std::size_t shots) {
  const MethodResult* baseline = find_result(document, "baseline", shots);
  const MethodResult* ibm2 = find_result(document, "ibm2", shots);
  if (baseline == nullptr || ibm2 == nullptr) return {};
  std::vector<double> before;
  std::vector<double> after;
  for (std::size_t c = 0; c < std::min(baseline->recall.size(), ibm2->recall.size()); ++c) {
    if (!baseline->recall[c] || !ibm2->recall[c]) continue;
    before.push_back(*baseline->recall[c]);
    after.push_back(*ibm2->recall[c]);
  }
  if (before.size() < kGainBins) return {};
  return class_gain(before, after, kGainBins).bins;
}

}  // namespace annulus
