// Makes the variants of each kind and runs them.
#include "annulus/eval/protocols/ablation.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/baselines/method.h"

namespace annulus {
namespace {

double number_in(const std::string& text, const AblationKind& kind, double least, double most) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most)) {
    fail_field(ErrorKind::kUsage, "values", "expected {} of the ablation {} to be numbers from {} to {}, found \"{}\"",
               kind.name, least, most, text);
  }
  return value;
}

// The search settings of a recipe; everything else is left as it was.
void take_search(const Recipe& from, Recipe& recipe) {
  const TrainOptions own = recipe.final_training;
  const double threshold = recipe.search.threshold;
  const auto take = [&own](TrainOptions stage) {
    stage.virtual_count = own.virtual_count;
    stage.sharing = own.sharing;
    stage.group = own.group;
    stage.batch = own.batch;
    stage.label_smoothing = own.label_smoothing;
    stage.seed = own.seed;
    stage.threads = own.threads;
    return stage;
  };
  recipe.search = from.search;
  recipe.search.threshold = threshold;
  recipe.search.pretrain = take(from.search.pretrain);
  recipe.search.probe = take(from.search.probe);
}

// Searches by name: the paper's, the paper's with one safeguard added each, and the default one.
void set_search(const std::string& name, const AblationKind& kind, Recipe& recipe) {
  if (std::find(kind.values.begin(), kind.values.end(), name) == kind.values.end()) {
    fail_field(ErrorKind::kUsage, "values", "expected {} of the ablation search to be among {}, found \"{}\"",
               fmt::join(kind.values, ", "), name);
  }
  take_search(recipe_named(name == "default" ? "default" : "paper"), recipe);
  if (name == "paper" || name == "default") return;
  recipe.search.verify_upper = true;
  if (name == "expand") recipe.search.expand = true;
  if (name == "interpolate") recipe.search.interpolate = true;
  if (name == "warm-start") recipe.search.warm_start = true;
}

Variant variant_of(const AblationKind& kind, const std::string& value, const Recipe& base) {
  Variant variant{"ibm2, " + value, "ibm2", base};
  Recipe& recipe = variant.recipe;
  if (kind.name == "virtual") {
    const double count = number_in(value, kind, 1, 1e6);
    set_virtual_count(recipe, static_cast<std::size_t>(count));
    variant.name = fmt::format("ibm2, R {}", static_cast<std::size_t>(count));
  } else if (kind.name == "schema") {
    recipe.noise_shape = noise_shape_from(value);
  } else if (kind.name == "probes") {
    recipe.search.threshold = number_in(value, kind, 0, 1);
    variant.name = fmt::format("ibm2, T {}", value);
  } else if (kind.name == "head") {
    recipe.head = head_kind_from(value);
    variant.name = fmt::format("ibm2, {} head", value);
  } else if (kind.name == "search") {
    set_search(value, kind, recipe);
    variant.name = fmt::format("ibm2, search {}", value);
  } else if (kind.name == "svm") {
    variant.name = variant.method = method_named(value).name;
  } else {
    variant.name = "ibm2";
  }
  return variant;
}

std::vector<Variant> variants_of(const AblationKind& kind, const AblationOptions& options) {
  std::vector<Variant> variants;
  for (const std::string& value : options.values.empty() ? kind.values : options.values) {
    variants.push_back(variant_of(kind, value, options.recipe));
  }
  if (kind.name == "classes" || kind.name == "svm") variants.push_back({"ibm2", "ibm2", options.recipe});
  return variants;
}

std::vector<Variant> beside_of(const AblationKind& kind, const AblationOptions& options,
                               const std::vector<Variant>& variants) {
  std::vector<Variant> beside;
  for (const std::string& name : options.beside) {
    const bool there =
        std::any_of(variants.begin(), variants.end(), [&](const Variant& variant) { return variant.name == name; });
    // The sweep over learning rates measures the baseline itself.
    if (there || (kind.name == "lr" && name == "baseline")) continue;
    beside.push_back({name, std::string(method_named(name).name), options.recipe});
  }
  const auto is_baseline = [](const Variant& variant) { return variant.method == "baseline"; };
  if (kind.name == "classes" && std::none_of(beside.begin(), beside.end(), is_baseline)) {
    beside.push_back({"baseline", "baseline", options.recipe});
  }
  return beside;
}

std::vector<double> rates_of(const AblationKind& kind, const AblationOptions& options) {
  std::vector<double> rates;
  for (const std::string& value : options.values.empty() ? kind.values : options.values) {
    rates.push_back(number_in(value, kind, 0, 1e6));
  }
  return rates;
}

// Every learning rate for both heads, the recipe's own rate among them.
void add_rates(const SplitSource& source, std::size_t shots, const AblationOptions& options,
               const std::vector<double>& rates, RunCounter& counter, std::vector<AblationRow>& rows) {
  for (const char* method : {"baseline", "ibm2"}) {
    RateSweep sweep = sweep_rates(source, {method, method, options.recipe}, rates, counter);
    rows.push_back(
        {fmt::format("{}, default lr {}", method, sweep.standard.learning_rate), shots, false, sweep.standard, false});
    for (std::size_t i = 0; i < sweep.scores.size(); ++i) {
      rows.push_back(
          {fmt::format("{}, lr {}", method, rates[i]), shots, false, std::move(sweep.scores[i]), i == sweep.best});
    }
  }
}

void add_gain(std::size_t shots, AblationReport& report) {
  const AblationRow* baseline = nullptr;
  const AblationRow* ibm2 = nullptr;
  for (const AblationRow& row : report.rows) {
    if (row.shots == shots && row.name == "baseline") baseline = &row;
    if (row.shots == shots && row.name == "ibm2") ibm2 = &row;
  }
  if (baseline == nullptr || ibm2 == nullptr) return;
  report.gains.push_back({shots, class_gain(baseline->score.recall, ibm2->score.recall)});
}

}  // namespace

const std::vector<AblationKind>& ablation_kinds() {
  static const std::vector<AblationKind> kKinds = [] {
    std::vector<std::string> rates;
    for (const double rate : paper_rates()) rates.push_back(fmt::format("{}", rate));
    return std::vector<AblationKind>{
        {"virtual", "R, the virtual examples of a training example in each step", {"1", "10", "50", "200", "400"}},
        {"schema", "the same noise in all dimensions, or scaled by the spread of each", {"spherical", "ellipsoidal"}},
        {"svm", "a margin between classes instead of a margin around examples", {"svm", "linear-svm"}},
        {"lr", "the learning rate of the final training", rates},
        {"probes",
         "T, the accuracy on virtual examples that the search requires",
         {"0.5", "0.7", "0.8", "0.9", "0.95", "0.99"}},
        {"head", "the kind of head", {"cosine", "linear"}},
        {"search",
         "how the radius is searched for",
         {"paper", "verify-upper", "expand", "interpolate", "warm-start", "default"}},
        {"classes", "which classes gain: sorted by the baseline's recall, ten bins", {}},
    };
  }();
  return kKinds;
}

const AblationKind& ablation_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const AblationKind& kind : ablation_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  fail(ErrorKind::kUsage, "expected one of {}, found \"{}\"", fmt::join(names, ", "), name);
}

AblationReport ablate(const std::function<SplitSource(std::size_t shots)>& splits_of, const AblationOptions& options,
                      const ProgressCallback& progress) {
  AblationReport report;
  report.kind = ablation_kind(options.what);
  if (report.kind.values.empty() && !options.values.empty()) {
    fail_field(ErrorKind::kUsage, "values", "expected no {} for the ablation {}, found \"{}\"", options.what,
               fmt::join(options.values, ","));
  }
  const bool lr = options.what == "lr";
  const std::vector<double> rates = lr ? rates_of(report.kind, options) : std::vector<double>();
  const std::vector<Variant> variants = lr ? std::vector<Variant>() : variants_of(report.kind, options);
  const std::vector<Variant> beside = beside_of(report.kind, options, variants);
  std::vector<SplitSource> sources;
  std::size_t runs = 0;
  for (const std::size_t shots : options.shots) {
    sources.push_back(splits_of(shots));
    std::size_t of_split = beside.size() + variants.size();
    if (lr) {
      for (const char* method : {"baseline", "ibm2"}) of_split += sweep_size({method, method, options.recipe}, rates);
    }
    runs += sources.back().splits * of_split;
  }
  RunCounter counter(progress, runs);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const Variant& variant : beside) {
      report.rows.push_back({variant.name, options.shots[i], true, score_variant(sources[i], variant, counter), false});
    }
    for (const Variant& variant : variants) {
      report.rows.push_back(
          {variant.name, options.shots[i], false, score_variant(sources[i], variant, counter), false});
    }
    if (lr) add_rates(sources[i], options.shots[i], options, rates, counter, report.rows);
    if (options.what == "classes") add_gain(options.shots[i], report);
  }
  return report;
}

}  // namespace annulus
