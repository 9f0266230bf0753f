// Metrics survive the disk bit for bit, and files that are not quite metric files are rejected.
#include "annulus/store/models/metric_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "annulus/store/formats/safetensors.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

BackboneMetric sample_metric() {
  BackboneMetric metric;
  metric.prior.metric.axes = {0.6F, 0.8F, 0.0F, 0.0F, 0.0F, 1.0F};
  metric.prior.metric.shrink = {0.75F, 0.0F};
  metric.prior.power = 0.6F;
  metric.dimension = 3;
  metric.network = {{"backbone", "Bülbül"}, {"backbone_sha256", "aa"}, {"preprocessing", "unit"}};
  metric.examples = 1224;
  metric.classes = 102;
  metric.sets = 2;
  metric.shrinkage = 0.3;
  return metric;
}

TEST(MetricFile, RoundTripIsExact) {
  const ScratchFolder folder;
  BackboneMetric written = sample_metric();
  for (const bool views : {false, true}) {
    written.views = views;
    const std::string checksum = write_metric(written, folder / "metric");
    const BackboneMetric read = read_metric(folder / "metric");
    EXPECT_EQ(read.prior.metric, written.prior.metric);
    EXPECT_EQ(read.prior.power, 0.6F);
    EXPECT_EQ(read.prior.checksum, checksum);
    EXPECT_EQ(checksum.size(), 64U);
    EXPECT_EQ(read.dimension, 3U);
    EXPECT_EQ(read.network, written.network);
    EXPECT_EQ(read.examples, 1224U);
    EXPECT_EQ(read.classes, 102U);
    EXPECT_EQ(read.sets, 2U);
    EXPECT_EQ(read.views, views);
    EXPECT_EQ(read.shrinkage, 0.3);
  }
  EXPECT_EQ(folder.files(), 1U);
}

TEST(MetricFile, MetricsThatCouldNotBeReadBackAreNotWritten) {
  const ScratchFolder folder;
  const auto expect_rejected = [&](const char* words, const std::function<void(BackboneMetric&)>& change) {
    BackboneMetric metric = sample_metric();
    change(metric);
    expect_error(ErrorKind::kInput, words, [&] { write_metric(metric, folder / "metric"); });
  };
  expect_rejected("axes of 3 dimensions", [](BackboneMetric& m) { m.prior.metric.axes.pop_back(); });
  expect_rejected("axes of 3 dimensions", [](BackboneMetric& m) { m.prior.metric = {}; });
  expect_rejected("axes of length 1", [](BackboneMetric& m) { m.prior.metric.axes[0] = 2.0F; });
  expect_rejected("axes of length 1",
                  [](BackboneMetric& m) { m.prior.metric.axes[0] = std::numeric_limits<float>::quiet_NaN(); });
  expect_rejected("from 0 to below 1", [](BackboneMetric& m) { m.prior.metric.shrink[1] = 1.0F; });
  expect_rejected("from 0 to below 1", [](BackboneMetric& m) { m.prior.metric.shrink[1] = -0.1F; });
  expect_rejected("a power above 0", [](BackboneMetric& m) { m.prior.power = 0.0F; });
  expect_rejected("a shrinkage", [](BackboneMetric& m) { m.shrinkage = 1.5; });
  expect_rejected("UTF-8", [](BackboneMetric& m) { m.network["backbone"] = "\xff"; });
  EXPECT_EQ(folder.files(), 0U);
}

// Writes the parts of a metric file as they are.
struct Parts {
  std::map<std::string, std::string> entries;
  std::vector<TensorLayout> layout{{"axes", ElementType::kF32, {2, 3}}, {"shrink", ElementType::kF32, {2}}};
  std::vector<float> numbers{0.6F, 0.8F, 0.0F, 0.0F, 0.0F, 1.0F, 0.75F, 0.0F};
};

TEST(MetricFile, HostileFilesAreRejected) {
  const ScratchFolder folder;
  write_metric(sample_metric(), folder / "good");
  const std::map<std::string, std::string> good = Safetensors(map_file(folder / "good")).metadata();
  const auto expect_rejected = [&](const char* words, const std::function<void(Parts&)>& change) {
    Parts parts{good};
    change(parts);
    SafetensorsWriter writer(folder / "bad", parts.layout, parts.entries);
    writer.write(std::as_bytes(std::span(parts.numbers)));
    writer.commit();
    expect_error(ErrorKind::kFormat, words, [&] { read_metric(folder / "bad"); });
  };
  expect_rejected("of another kind", [](Parts& parts) { parts.entries.clear(); });
  expect_rejected("\"annulus-model\"", [](Parts& parts) { parts.entries["format"] = "annulus-model"; });
  expect_rejected("version \"9\"", [](Parts& parts) { parts.entries["version"] = "9"; });
  for (const char* const key : {"dimension", "power", "shrinkage", "examples", "classes", "sets"}) {
    expect_rejected("to be a number", [&](Parts& parts) { parts.entries[key] = "many"; });
    expect_rejected("expected the entry", [&](Parts& parts) { parts.entries.erase(key); });
  }
  expect_rejected("learnt from views or labels", [](Parts& parts) { parts.entries["learnt_from"] = "dreams"; });
  expect_rejected("axes of 4 dimensions, found 3", [](Parts& parts) { parts.entries["dimension"] = "4"; });
  expect_rejected("expected the entry \"checksum\"", [](Parts& parts) { parts.entries.erase("checksum"); });
  expect_rejected("changed or damaged", [](Parts& parts) { parts.entries["classes"] = "103"; });
  expect_rejected("changed or damaged", [](Parts& parts) { parts.entries["backbone_sha256"] = "bb"; });
  expect_rejected("changed or damaged", [](Parts& parts) { parts.numbers[6] = 0.5F; });
  expect_rejected("from 0 to below 1", [](Parts& parts) { parts.numbers[6] = 1e30F; });
  expect_rejected("axes of length 1", [](Parts& parts) { parts.numbers[1] = std::numeric_limits<float>::infinity(); });
  expect_rejected("as a matrix of F32", [](Parts& parts) { parts.layout[0].shape = {6}; });
  expect_rejected("as a list of F32", [](Parts& parts) { parts.layout[1] = {"shrink", ElementType::kI32, {2}}; });
  expect_rejected("a number for each", [](Parts& parts) {
    parts.layout = {{"axes", ElementType::kF32, {1, 3}}, {"shrink", ElementType::kF32, {5}}};
  });
}

TEST(MetricFile, TruncatedAndMissingFilesAreRejected) {
  const ScratchFolder folder;
  write_metric(sample_metric(), folder / "good");
  const std::string whole = content_of(folder / "good");
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    const auto cut = folder.write("cut", whole.substr(0, length));
    expect_error(ErrorKind::kFormat, "cut", [&] { read_metric(cut); });
  }
  expect_error(ErrorKind::kIo, "missing", [&] { read_metric(folder / "missing"); });
}

}  // namespace
}  // namespace annulus
