// Copies and leaks among groups of equal rows, and sets too small to learn from what is near.
#include "annulus/eval/audit/duplicates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "annulus/eval/audit/audit.h"
#include "annulus/report/html/audit_page.h"
#include "annulus/report/tables/audit_text.h"
#include "annulus/task/synthetic.h"

namespace annulus {
namespace {

// A set whose rows can be changed: `rows` a class, all for training but those that the caller says.
struct Changeable {
  explicit Changeable(std::size_t classes, std::size_t count, double noise = 0.5) {
    SyntheticOptions options;
    options.classes = classes;
    options.train_rows = count;
    options.test_rows = 0;
    options.dimension = 64;
    options.noise = noise;
    const FeatureSet set = make_synthetic(options);
    rows = Matrix<float>(set.rows(), set.dimension());
    set.copy_rows(0, rows.view());
    labels.assign(set.labels().begin(), set.labels().end());
    is_train.assign(labels.size(), 1);
  }
  // Row `to` becomes row `from`, or nearly so.
  void copy(std::size_t from, std::size_t to, float change = 0.0F) {
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      rows(to, j) = rows(from, j) * (1.0F + (j % 2 == 0 ? change : -change));
    }
  }
  FeatureSet set() const {
    FeatureSetParts parts = parts_of(rows.clone());
    parts.labels = labels;
    parts.is_train = is_train;
    return FeatureSet(std::move(parts));
  }

  Matrix<float> rows;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> is_train;
};

std::vector<const AuditFinding*> of_kind(const AuditReport& report, FindingKind kind) {
  std::vector<const AuditFinding*> found;
  for (const AuditFinding& finding : report.findings) {
    if (finding.kind == kind) found.push_back(&finding);
  }
  return found;
}

using Leak = std::pair<std::uint32_t, std::uint32_t>;  // a test example and a training example

std::vector<Leak> leaks_of(const AuditReport& report) {
  std::vector<Leak> leaks;
  for (const AuditFinding* finding : of_kind(report, FindingKind::kLeakage)) {
    leaks.emplace_back(finding->row.value(), finding->other_row.value());
  }
  std::sort(leaks.begin(), leaks.end());
  return leaks;
}

TEST(Duplicates, EveryTestExampleOfAGroupOfCopiesLeaks) {
  Changeable data(10, 4);
  // Two test examples before the training example that they are, and two equal ones that nearly are another.
  data.copy(30, 2);
  data.copy(30, 7);
  data.copy(20, 11, 0.002F);
  data.copy(11, 35);
  for (const std::size_t row : {2U, 7U, 11U, 35U}) data.is_train[row] = 0;
  const AuditReport report = audit(data.set(), {});
  EXPECT_EQ(leaks_of(report), (std::vector<Leak>{{2, 30}, {7, 30}, {11, 20}, {35, 20}}));
  EXPECT_EQ(report.count(FindingKind::kLeakage), 4U);
  const auto exact = of_kind(report, FindingKind::kDuplicate);
  ASSERT_EQ(exact.size(), 1U);  // the two equal test examples
  EXPECT_EQ(exact[0]->row, 11U);
  EXPECT_EQ(report.count(FindingKind::kNearDuplicate), 0U);
}

TEST(Duplicates, ATestExampleNearAGroupLeaksThroughItsTrainingExample) {
  Changeable data(10, 4);
  data.copy(30, 3);           // test example 3 is training example 30
  data.copy(30, 17, 0.002F);  // test example 17 is nearly both
  data.is_train[3] = 0;
  data.is_train[17] = 0;
  const AuditReport report = audit(data.set(), {});
  EXPECT_EQ(leaks_of(report), (std::vector<Leak>{{3, 30}, {17, 30}}));
  EXPECT_EQ(report.count(FindingKind::kNearDuplicate), 0U);
}

TEST(Duplicates, ATestExampleIsReportedOnce) {
  Changeable data(10, 4);
  data.copy(30, 17, 0.002F);
  data.copy(30, 25, -0.001F);
  data.is_train[17] = 0;
  const AuditReport report = audit(data.set(), {});
  EXPECT_EQ(leaks_of(report), (std::vector<Leak>{{17, 30}}));
  EXPECT_EQ(report.count(FindingKind::kNearDuplicate), 1U);  // rows 25 and 30
}

TEST(Duplicates, NineClassesOfTwoPhotosAreComparedByTheirLook) {
  Changeable data(9, 2, 1.5);
  data.copy(3, 12, 0.02F);
  AuditOptions options;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    ImageFacts facts;
    facts.sha256 = std::to_string(i);
    facts.look = 0x9E3779B97F4A7C15ULL * (i + 1);
    facts.contrast = 40.0;
    options.images.push_back(facts);
  }
  options.images[12].look = options.images[3].look ^ 1U;
  const AuditReport report = audit(data.set(), options);
  EXPECT_GT(report.typical_distance, 0.0);
  EXPECT_EQ(report.near_distance, 0.0);
  const auto near = of_kind(report, FindingKind::kNearDuplicate);
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0]->row, 3U);
  EXPECT_EQ(near[0]->other_row, 12U);
  EXPECT_NE(audit_text(report).find("fewer than 20 examples"), std::string::npos);
  EXPECT_NE(audit_page(report).find("fewer than 20 examples"), std::string::npos);
  EXPECT_EQ(audit_text(audit(Changeable(10, 4).set(), {})).find("fewer than"), std::string::npos);
}

}  // namespace
}  // namespace annulus
