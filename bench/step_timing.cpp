// Times jobs named on standard input, so that a script can interleave them with other programs' jobs:
//   step B R D N NOISE THREADS                one training step, gradient and Adam together: the median of a short run
//   fit WAYS K D R NOISE THREADS              a whole fit by the paper's recipe: pre-training, search, final training
//   default WAYS K D R THREADS                a whole fit by the default recipe; R 0: the recipe's own
//   baseline WAYS K D THREADS                 the head trained on the training examples alone, by the default recipe
//   episode WAYS K D R NOISE THREADS COUNT    COUNT fits by the paper's recipe for episodes, one a thread at a time
//   rows WAYS K D FILE                        writes the rows that fits are timed on: float32, row after row
// NOISE is independent, shared, grouped, or antithetic: shared in pairs of opposite sign, what the recipe episodes
// does. Answers are lines of JSON; "seconds" is wall time. Fits also tell their numbers of epochs, probes and batches.
#include <fmt/format.h>

#include <fstream>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/learn/method/noise_bank.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/method/trainer.h"
#include "bench/job_loop.h"
#include "bench/stopwatch.h"

namespace annulus {
namespace {

// Features around prototypes: `shots` rows of each class, in the order of the classes. `draw` selects other examples.
LabelledExamples generated_rows(std::size_t classes, std::size_t shots, std::size_t dimension, std::uint32_t draw = 0) {
  LabelledExamples rows{Matrix<float>(classes * shots, dimension), {}, classes};
  std::vector<float> mean(dimension);
  for (std::size_t i = 0; i < classes * shots; ++i) {
    const std::size_t label = i / shots;
    rows.labels.push_back(static_cast<std::int32_t>(label));
    fill_gaussian({1, RandomUse::kSynthetic, 2 * draw}, label * dimension, mean);
    fill_gaussian({1, RandomUse::kSynthetic, 2 * draw + 1}, i * dimension, rows.features.row(i));
    for (std::size_t j = 0; j < dimension; ++j) rows.features(i, j) = mean[j] + 1.5F * rows.features(i, j);
  }
  return rows;
}

// Numbers of a job that say which rows it is about.
struct Shape {
  std::size_t classes, shots, dimension;
};

Shape shape_from(JobWords& words) {
  const std::size_t classes = words.count("a number of classes");
  const std::size_t shots = words.count("a number of shots");
  return {classes, shots, words.count("a dimension")};
}

void set_noise(const std::string& kind, TrainOptions& options) {
  options.antithetic = kind == "antithetic";
  options.sharing = options.antithetic ? NoiseSharing::kShared : noise_sharing_from(kind);
}

std::string time_step(JobWords& words) {
  TrainOptions options;
  options.batch = words.count("a batch");
  options.virtual_count = words.count("a number of virtual examples");
  const std::size_t dimension = words.count("a dimension");
  const std::size_t classes = words.count("a number of classes");
  set_noise(words.next<std::string>("a kind of noise"), options);
  options.threads = words.threads();
  options.epsilon = 2.0;
  const auto rows = generated_rows(classes, (options.batch + classes - 1) / classes, dimension);
  const auto training =
      make_training_examples<float>(rows.features.view(), rows.labels, classes, NoiseShape::kEllipsoidal);
  auto head = initial_head<float>(HeadKind::kCosine, classes, dimension, 0, 0);
  // Steps are timed from one to the next, so that work space is there already; only whole batches are used.
  const std::size_t batches = rows.labels.size() / options.batch;
  options.epochs = 2 + 6 / batches;
  std::vector<double> steps;
  auto last = std::chrono::steady_clock::now();
  TrainHooks<float> hooks;
  hooks.after_step = [&](const StepRecord<float>& record) {
    const auto now = std::chrono::steady_clock::now();
    if (record.step > 0) steps.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
  };
  hooks.order = [&](std::size_t) {
    std::vector<std::uint32_t> order(batches * options.batch);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    return order;
  };
  train(head, training, options, {}, hooks);
  return fmt::format(R"({{"seconds": {:.9f}, "steps": {}}})", median(steps), steps.size());
}

// What a fit did, so that another program's fit of the same length can be put together from its steps.
std::string counts_of(const Recipe& recipe, std::size_t probes) {
  return fmt::format(
      R"("probes": {}, "pretrain_epochs": {}, "probe_epochs": {}, "final_epochs": {}, "batch": {}, "virtual": {})",
      probes, recipe.search.pretrain.epochs, recipe.search.probe.epochs, recipe.final_training.epochs,
      recipe.final_training.batch, recipe.final_training.virtual_count);
}

std::string fit_answer(const LabelledExamples& rows, const Recipe& recipe) {
  FitResult result;
  const double seconds = seconds_of([&] { result = fit_head(rows, recipe); });
  const std::size_t probes = result.search ? result.search->probes.size() : 0;
  return fmt::format(R"({{"seconds": {:.9f}, "epsilon": {:.4f}, {}}})", seconds, result.epsilon,
                     counts_of(recipe, probes));
}

Recipe recipe_from(const char* name, JobWords& words) {
  Recipe recipe = recipe_named(name);
  set_virtual_count(recipe, words.count("a number of virtual examples"));
  const auto kind = words.next<std::string>("a kind of noise");
  for (TrainOptions* stage : {&recipe.search.probe, &recipe.final_training}) set_noise(kind, *stage);
  return recipe;
}

std::string time_fit(JobWords& words) {
  const Shape shape = shape_from(words);
  Recipe recipe = recipe_from("paper", words);
  set_threads(recipe, words.threads());
  return fit_answer(generated_rows(shape.classes, shape.shots, shape.dimension), recipe);
}

std::string time_default(JobWords& words) {
  const Shape shape = shape_from(words);
  Recipe recipe = recipe_named("default");
  const auto virtual_count = words.next<std::size_t>("a number of virtual examples");
  if (virtual_count > 0) set_virtual_count(recipe, virtual_count);
  set_threads(recipe, words.threads());
  return fit_answer(generated_rows(shape.classes, shape.shots, shape.dimension), recipe);
}

std::string time_baseline(JobWords& words) {
  const Shape shape = shape_from(words);
  Recipe recipe = recipe_named("ibm2");
  set_threads(recipe, words.threads());
  const auto rows = generated_rows(shape.classes, shape.shots, shape.dimension);
  recipe.virtual_examples = false;
  const double seconds = seconds_of([&] { fit_head(rows, recipe); });
  return fmt::format(R"({{"seconds": {:.9f}, "epochs": {}}})", seconds, recipe.baseline.epochs);
}

// Episodes are independent of one another, so each is fitted by one thread. Returns the probes of all of them.
std::size_t fit_episodes(const std::vector<LabelledExamples>& episodes, Recipe recipe, int threads) {
  NoiseBank bank(std::size_t{512} << 20);
  set_threads(recipe, 1);
  set_noise_bank(recipe, &bank);
  std::vector<std::size_t> probes(episodes.size());
  parallel_for(threads, episodes.size(), [&](std::size_t i) {
    Recipe own = recipe;
    set_task(own, static_cast<std::uint32_t>(i) + 1);
    probes[i] = fit_head(episodes[i], own).search->probes.size();
  });
  std::size_t sum = 0;
  for (const std::size_t count : probes) sum += count;
  return sum;
}

std::string time_episodes(JobWords& words) {
  const Shape shape = shape_from(words);
  const Recipe recipe = recipe_from("episodes", words);
  const int threads = words.threads();
  std::vector<LabelledExamples> episodes;
  for (std::size_t count = words.count("a number of episodes"); episodes.size() < count;) {
    const auto draw = static_cast<std::uint32_t>(episodes.size());
    episodes.push_back(generated_rows(shape.classes, shape.shots, shape.dimension, draw));
  }
  std::size_t probes = 0;
  const double seconds = seconds_of([&] { probes = fit_episodes(episodes, recipe, threads); });
  // Every search takes about as many probes; the mean, rounded, stands for them.
  return fmt::format(R"({{"seconds": {:.9f}, "episodes": {}, {}}})", seconds, episodes.size(),
                     counts_of(recipe, (probes + episodes.size() / 2) / episodes.size()));
}

std::string write_rows(JobWords& words) {
  const Shape shape = shape_from(words);
  const auto path = words.next<std::string>("the name of a file");
  const auto rows = generated_rows(shape.classes, shape.shots, shape.dimension);
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const auto bytes = std::as_bytes(rows.features.row(i));
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  file.close();
  if (!file) fail(ErrorKind::kInput, "could not write the rows to {}", path);
  return fmt::format(R"({{"rows": {}}})", rows.labels.size());
}

}  // namespace
}  // namespace annulus

int main() {
  return annulus::run_jobs("step_timing", {{"step", annulus::time_step},
                                           {"fit", annulus::time_fit},
                                           {"default", annulus::time_default},
                                           {"baseline", annulus::time_baseline},
                                           {"episode", annulus::time_episodes},
                                           {"rows", annulus::write_rows}});
}
