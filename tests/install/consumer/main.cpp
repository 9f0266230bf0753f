// Uses the installed package: its version is the expected one, and a model is fitted, saved, read again and used.
#include <annulus/annulus.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

// Ten examples of each of four classes: the class is the column of the largest number.
annulus::FeatureSet make_set() {
  constexpr std::size_t kClasses = 4;
  constexpr std::size_t kExamples = 40;
  annulus::Matrix<float> features(kExamples, 8);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < kExamples; ++i) {
    for (std::size_t j = 0; j < features.cols(); ++j) {
      features(i, j) = 0.02F * static_cast<float>((7 * i + 3 * j) % 11);
    }
    features(i, i % kClasses) += 1.0F;
    labels.push_back(static_cast<std::int32_t>(i % kClasses));
  }
  annulus::FeatureSetParts parts = annulus::parts_of(std::move(features));
  parts.labels = std::move(labels);
  parts.class_names = {"ash", "birch", "cedar", "elm"};
  parts.source = "made by hand";
  return annulus::FeatureSet(std::move(parts));
}

int fail(const char* what) {
  std::fprintf(stderr, "consumer: %s\n", what);
  return 1;
}

}  // namespace

// consumer VERSION FOLDER
int main(int argc, char** argv) {
  if (argc != 3 || annulus::version() != argv[1]) return fail("another version was found");
  const std::string file = (std::filesystem::path(argv[2]) / "consumer-model.safetensors").string();
  const annulus::FeatureSet set = make_set();
  annulus::FitOptions options;
  options.seed = 1;
  std::size_t reports = 0;
  options.progress = [&](const annulus::Progress&) { return ++reports != 0; };
  const annulus::Model model = annulus::fit(set, options);
  annulus::save(model, file);
  if (reports == 0) return fail("the fit reported no progress");

  const annulus::Model loaded = annulus::load_model(file);
  const std::vector<annulus::Prediction> predictions = annulus::predict(loaded, set, {.top = 2, .false_reject = 0.0});
  if (predictions.size() != set.rows()) return fail("not one prediction for each example");
  annulus::Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  const auto by_rows = annulus::predict(model, std::as_const(rows).view(), {.top = 2, .false_reject = 0.0});
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const annulus::Prediction& p = predictions[i];
    if (p.label != set.class_names()[static_cast<std::size_t>(set.labels()[i])]) return fail("a wrong label");
    if (p.top.size() != 2 || p.top[0].probability != p.probability) return fail("a wrong list of classes");
    if (by_rows[i].label != p.label || by_rows[i].probability != p.probability) return fail("rows differ from the set");
  }
  try {
    annulus::load_model("no-such-file.safetensors");
    return fail("a missing file is no error");
  } catch (const annulus::Error& error) {
    if (error.kind() != annulus::ErrorKind::kIo) return fail("a missing file is another error than kIo");
  }
  return 0;
}
