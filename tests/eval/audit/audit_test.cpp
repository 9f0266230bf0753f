// Planted errors, copies and leaks are found; small and degenerate sets are accepted.
#include "annulus/eval/audit/audit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/eval/audit/class_audit.h"
#include "annulus/eval/audit/label_audit.h"
#include "annulus/eval/audit/learning_curve.h"
#include "annulus/eval/audit/neighbours.h"
#include "annulus/report/html/audit_page.h"
#include "annulus/report/tables/audit_text.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/generated_set.h"

namespace annulus {
namespace {

// Copies of a set's parts, to be changed.
FeatureSetParts copy_of(const FeatureSet& set) {
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.labels.assign(set.labels().begin(), set.labels().end());
  parts.class_names.assign(set.class_names().begin(), set.class_names().end());
  parts.source = "generated";
  return parts;
}

// Without the test example of each class.
FeatureSetParts training_part(const FeatureSet& set) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (set.is_train()[i] != 0) rows.push_back(i);
  }
  Matrix<float> features(rows.size(), set.dimension());
  set.copy_rows(rows, features.view());
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = set.labels_of(rows);
  parts.class_names.assign(set.class_names().begin(), set.class_names().end());
  parts.source = "generated";
  return parts;
}

std::vector<const AuditFinding*> of_kind(const AuditReport& report, FindingKind kind) {
  std::vector<const AuditFinding*> found;
  for (const AuditFinding& finding : report.findings) {
    if (finding.kind == kind) found.push_back(&finding);
  }
  return found;
}

TEST(Audit, PlantedErrorsComeFirstAndTheRightLabelIsSuggested) {
  FeatureSetParts parts = training_part(generated_set(20, 5));
  const std::vector<std::int32_t> truth = parts.labels;
  const std::set<std::uint32_t> wrong{3, 22, 41, 60, 97};
  for (const std::uint32_t row : wrong) parts.labels[row] = (truth[row] + 7) % 20;
  const AuditReport report = audit(FeatureSet(std::move(parts)), {});
  const auto suspects = of_kind(report, FindingKind::kMislabelled);
  ASSERT_EQ(suspects.size(), 5U);
  for (const AuditFinding* suspect : suspects) {
    ASSERT_TRUE(suspect->row.has_value());
    EXPECT_TRUE(wrong.contains(*suspect->row)) << *suspect->row;
    EXPECT_EQ(suspect->other_class, fmt::format("class-{:03}", truth[*suspect->row]));
    EXPECT_GT(suspect->score, 0.5);
  }
  EXPECT_EQ(report.count(FindingKind::kMislabelled), 5U);
  EXPECT_GT(report.planted_recall, 80.0);
}

TEST(Audit, TwoExamplesPerClassSuffice) {
  FeatureSetParts parts = training_part(generated_set(30, 2, 0.3));
  parts.labels[0] = 9;  // class 0 keeps one row, class 9 has three
  AuditOptions options;
  options.suspect_fraction = 0.02;
  const AuditReport report = audit(FeatureSet(std::move(parts)), options);
  const auto suspects = of_kind(report, FindingKind::kMislabelled);
  ASSERT_EQ(suspects.size(), 2U);
  EXPECT_EQ(suspects[0]->row, 0U);
  EXPECT_EQ(suspects[0]->other_class, "class-000");
  ASSERT_EQ(report.count(FindingKind::kSingleExample), 1U);
  EXPECT_EQ(of_kind(report, FindingKind::kSingleExample)[0]->class_name, "class-000");
  ASSERT_EQ(report.curve.measured.size(), 1U);
  EXPECT_TRUE(report.curve.predicted.empty());
}

TEST(Audit, CopiesAreFoundWithinAndAcrossClasses) {
  FeatureSetParts parts = training_part(generated_set(12, 6));
  Matrix<float> rows(parts.features.rows(), parts.features.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(parts.features.row(i).begin(), parts.features.row(i).end(), rows.row(i).begin());
  }
  const auto copy = [&](std::size_t from, std::size_t to, float change) {
    for (std::size_t j = 0; j < rows.cols(); ++j)
      rows(to, j) = rows(from, j) * (1.0F + (j % 2 == 0 ? change : -change));
  };
  copy(0, 1, 0.0F);      // of the same class
  copy(10, 40, 0.0F);    // of another
  copy(20, 50, 0.002F);  // nearly
  FeatureSetParts changed = parts_of(std::move(rows));
  changed.labels = parts.labels;
  changed.class_names = parts.class_names;
  const AuditReport report = audit(FeatureSet(std::move(changed)), {});
  const auto exact = of_kind(report, FindingKind::kDuplicate);
  ASSERT_EQ(exact.size(), 2U);
  EXPECT_EQ(exact[0]->row, 0U);
  EXPECT_EQ(exact[0]->other_row, 1U);
  EXPECT_EQ(exact[0]->class_name, exact[0]->other_class);
  EXPECT_EQ(exact[1]->row, 10U);
  EXPECT_EQ(exact[1]->other_row, 40U);
  EXPECT_NE(exact[1]->text.find("one is labelled"), std::string::npos);
  const auto near = of_kind(report, FindingKind::kNearDuplicate);
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0]->row, 20U);
  EXPECT_EQ(near[0]->other_row, 50U);
  EXPECT_EQ(report.count(FindingKind::kLeakage), 0U);
}

TEST(Audit, ATestExampleThatIsATrainingExampleIsALeak) {
  FeatureSetParts parts = copy_of(generated_set(10, 4));
  Matrix<float> rows(parts.features.rows(), parts.features.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(parts.features.row(i).begin(), parts.features.row(i).end(), rows.row(i).begin());
  }
  std::copy(rows.row(30).begin(), rows.row(30).end(), rows.row(7).begin());
  FeatureSetParts changed = parts_of(std::move(rows));
  changed.labels = parts.labels;
  changed.class_names = parts.class_names;
  changed.is_train.assign(changed.labels.size(), 1);
  changed.is_train[7] = 0;
  const AuditReport report = audit(FeatureSet(std::move(changed)), {});
  const auto leaks = of_kind(report, FindingKind::kLeakage);
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0]->row, 7U);
  EXPECT_EQ(leaks[0]->other_row, 30U);
  EXPECT_EQ(report.count(FindingKind::kDuplicate), 0U);
  EXPECT_NE(audit_text(report).find("leakage"), std::string::npos);
  EXPECT_NE(audit_page(report).find("this split is too high"), std::string::npos);
}

TEST(Audit, AnExampleFarFromAllOthersIsAnOutlier) {
  FeatureSetParts parts = training_part(generated_set(10, 8, 0.3));
  Matrix<float> rows(parts.features.rows(), parts.features.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(parts.features.row(i).begin(), parts.features.row(i).end(), rows.row(i).begin());
  }
  for (std::size_t j = 0; j < rows.cols(); ++j) rows(33, j) = j % 3 == 0 ? 1.0F : -1.0F;
  FeatureSetParts changed = parts_of(std::move(rows));
  changed.labels = parts.labels;
  const AuditReport report = audit(FeatureSet(std::move(changed)), {});
  const auto outliers = of_kind(report, FindingKind::kOutlier);
  ASSERT_FALSE(outliers.empty());
  EXPECT_EQ(outliers[0]->row, 33U);
}

TEST(Audit, TwoHalvesOfOneClassAreAlikeAndHard) {
  FeatureSetParts parts = training_part(generated_set(8, 40, 0.5));
  std::size_t members = 0;
  for (std::int32_t& label : parts.labels) {
    if (label == 6) {
      label = 7;
    } else if (label == 5 && members++ % 2 == 0) {
      label = 6;  // a class cut in two, one half under the name of another
    }
  }
  const AuditReport report = audit(FeatureSet(std::move(parts)), {});
  const auto alike = of_kind(report, FindingKind::kAlikeClasses);
  ASSERT_FALSE(alike.empty());
  EXPECT_EQ(alike[0]->class_name, "class-005");
  EXPECT_EQ(alike[0]->other_class, "class-006");
}

TEST(Audit, TheLearningCurveRisesAndItsPredictionsContinueIt) {
  const AuditReport report = audit(FeatureSet(training_part(generated_set(30, 8, 1.5))), {});
  const LearningCurve& curve = report.curve;
  EXPECT_EQ(curve.shots, 8U);
  ASSERT_GE(curve.measured.size(), 4U);
  EXPECT_EQ(curve.measured.front().shots, 1U);
  EXPECT_EQ(curve.measured.back().shots, 7U);
  EXPECT_LT(curve.measured.front().accuracy, curve.measured.back().accuracy);
  ASSERT_EQ(curve.predicted.size(), 3U);
  EXPECT_EQ(curve.predicted[0].shots, 8U);
  EXPECT_EQ(curve.predicted[1].shots, 9U);
  EXPECT_EQ(curve.predicted[2].shots, 16U);
  EXPECT_GE(curve.predicted[2].accuracy, curve.measured.back().accuracy - 1.0);
  for (const ShotAccuracy& point : curve.predicted) {
    EXPECT_LE(point.low, point.accuracy);
    EXPECT_GE(point.high, point.accuracy);
    EXPECT_LE(point.high, 100.0);
  }
}

TEST(Audit, TheSameBitsForAnyNumberOfThreads) {
  const FeatureSet set = generated_set(40, 30, 1.0);
  AuditOptions options;
  options.threads = 1;
  const AuditReport one = audit(set, options);
  options.threads = 3;
  const AuditReport three = audit(set, options);
  EXPECT_EQ(audit_json_lines(one), audit_json_lines(three));
  EXPECT_EQ(audit_json(one), audit_json(three));
  EXPECT_EQ(audit_page(one), audit_page(three));
}

TEST(Audit, ImagesThatAreTinyFlatOrCorruptAreNamed) {
  FeatureSetParts parts = training_part(generated_set(4, 6));
  AuditOptions options;
  options.smallest_side = 32;
  for (std::size_t i = 0; i < parts.labels.size(); ++i) {
    parts.paths.push_back("photos/" + std::to_string(i) + ".png");
    ImageFacts facts;
    facts.path = parts.paths.back();
    facts.sha256 = std::to_string(i);
    facts.width = i == 4 ? 31 : 64;
    facts.height = 64;
    facts.look = 0x9E3779B97F4A7C15ULL * (i + 1);
    facts.contrast = i == 9 ? 0.5 : 40.0;
    options.images.push_back(facts);
  }
  options.images[17].sha256 = options.images[2].sha256;
  ImageFacts broken;
  broken.path = "photos/broken.jpg";
  broken.error = "photos/broken.jpg: cut short";
  options.corrupt.push_back(broken);
  options.empty_classes = {"nothing"};
  const AuditReport report = audit(FeatureSet(std::move(parts)), options);
  ASSERT_EQ(report.count(FindingKind::kTiny), 1U);
  EXPECT_EQ(of_kind(report, FindingKind::kTiny)[0]->row, 4U);
  ASSERT_EQ(report.count(FindingKind::kFlat), 1U);
  EXPECT_EQ(of_kind(report, FindingKind::kFlat)[0]->row, 9U);
  ASSERT_EQ(report.count(FindingKind::kCorrupt), 1U);
  EXPECT_EQ(of_kind(report, FindingKind::kCorrupt)[0]->path, "photos/broken.jpg");
  ASSERT_EQ(report.count(FindingKind::kEmptyClass), 1U);
  ASSERT_EQ(report.count(FindingKind::kDuplicate), 1U);
  EXPECT_EQ(of_kind(report, FindingKind::kDuplicate)[0]->other_path, "photos/17.png");
}

TEST(Audit, ImagesThatLookAlikeArePairedWhenTheirFeaturesAgree) {
  FeatureSetParts parts = training_part(generated_set(6, 8, 1.5));
  Matrix<float> rows(parts.features.rows(), parts.features.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(parts.features.row(i).begin(), parts.features.row(i).end(), rows.row(i).begin());
  }
  // A third of the way to row 1's neighbour: near, but not so near that features alone would tell.
  for (std::size_t j = 0; j < rows.cols(); ++j) rows(30, j) = rows(1, j) + 0.35F * (rows(30, j) - rows(1, j));
  FeatureSetParts changed = parts_of(std::move(rows));
  changed.labels = parts.labels;
  AuditOptions options;
  for (std::size_t i = 0; i < changed.labels.size(); ++i) {
    ImageFacts facts;
    facts.sha256 = std::to_string(i);
    facts.look = 0x9E3779B97F4A7C15ULL * (i + 1);
    facts.contrast = 40.0;
    options.images.push_back(facts);
  }
  const FeatureSet set(std::move(changed));
  EXPECT_EQ(audit(set, options).count(FindingKind::kNearDuplicate), 0U);
  options.images[30].look = options.images[1].look ^ 1U;
  const AuditReport report = audit(set, options);
  ASSERT_EQ(report.count(FindingKind::kNearDuplicate), 1U);
  EXPECT_EQ(of_kind(report, FindingKind::kNearDuplicate)[0]->row, 1U);
  EXPECT_EQ(of_kind(report, FindingKind::kNearDuplicate)[0]->other_row, 30U);
}

TEST(Audit, DegenerateSetsAreAudited) {
  // All rows equal, one class only, every class with one row.
  for (const int kind : {0, 1, 2}) {
    Matrix<float> rows(6, 3);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 3; ++j) rows(i, j) = kind == 0 ? 1.0F : static_cast<float>(1 + (i * (j + 2)) % 5);
    }
    FeatureSetParts parts = parts_of(std::move(rows));
    for (std::int32_t i = 0; i < 6; ++i) parts.labels.push_back(kind == 0 ? i % 2 : kind == 1 ? 0 : i);
    const AuditReport report = audit(FeatureSet(std::move(parts)), {});
    EXPECT_FALSE(audit_text(report).empty());
    for (const AuditFinding& finding : report.findings) EXPECT_TRUE(std::isfinite(finding.score)) << finding.text;
    if (kind == 0) {
      EXPECT_EQ(report.count(FindingKind::kDuplicate), 5U);
    }
    if (kind == 1) {
      EXPECT_EQ(report.planted, 0U);
    }
    if (kind == 2) {
      EXPECT_EQ(report.count(FindingKind::kSingleExample), 6U);
    }
  }
}

TEST(Audit, SetsThatCannotBeAuditedAreRejected) {
  FeatureSetParts unlabelled = training_part(generated_set(4, 3));
  unlabelled.labels.clear();
  unlabelled.class_names.clear();
  EXPECT_THROW(audit(FeatureSet(std::move(unlabelled)), {}), Error);
  AuditOptions options;
  options.suspect_fraction = 2.0;
  EXPECT_THROW(audit(generated_set(4, 3), options), Error);
  EXPECT_THROW(finding_kind_from("typos"), Error);
  EXPECT_EQ(finding_kind_from("alike-classes"), FindingKind::kAlikeClasses);
}

TEST(Audit, StopsWhenProgressAsksTo) {
  const FeatureSet set = generated_set(10, 5);
  EXPECT_THROW(audit(set, {}, [](const Progress&) { return false; }), Error);
}

TEST(Audit, NamesCannotBreakThePageOrTheLines) {
  FeatureSetParts parts = training_part(generated_set(4, 6));
  parts.class_names = {"<script>alert(1)</script>", "\"b\"\n", "c&d", "\xff\xfe"};
  parts.labels[0] = 2;
  const AuditReport report = audit(FeatureSet(std::move(parts)), {});
  EXPECT_EQ(audit_page(report).find("<script>alert"), std::string::npos);
  std::size_t lines = 0;
  std::string text = audit_json_lines(report);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    EXPECT_TRUE(nlohmann::json::accept(text.substr(at, text.find('\n', at) - at)));
    ++lines;
  }
  EXPECT_EQ(lines, report.findings.size());
}

TEST(Audit, FramesOfAVideoAreNoCopiesOfEachOther) {
  FeatureSetParts parts = training_part(generated_set(12, 6));
  for (std::uint32_t row = 0; row < parts.labels.size(); ++row) parts.groups.push_back(static_cast<std::int32_t>(row));
  FeatureSetParts changed = copy_of(FeatureSet(parts));
  Matrix<float> rows(changed.labels.size(), changed.features.cols());
  FeatureSet(parts).copy_rows(0, rows.view());
  std::copy(rows.row(0).begin(), rows.row(0).end(), rows.row(1).begin());  // of the same class
  std::copy(rows.row(6).begin(), rows.row(6).end(), rows.row(7).begin());
  FeatureSetParts frames = parts_of(std::move(rows));
  frames.labels = changed.labels;
  frames.class_names = changed.class_names;
  frames.groups = parts.groups;
  frames.groups[1] = frames.groups[0];
  FeatureSetParts leaking = frames;
  const AuditReport report = audit(FeatureSet(std::move(frames)), {});
  const auto copies = of_kind(report, FindingKind::kDuplicate);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies.front()->row, 6U) << "rows 0 and 1 are of one video";

  leaking.is_train.assign(leaking.labels.size(), 1);
  leaking.is_train[1] = 0;
  const AuditReport leaks = audit(FeatureSet(std::move(leaking)), {});
  ASSERT_EQ(of_kind(leaks, FindingKind::kLeakage).size(), 1U) << "a video that is cut in two leaks";
  EXPECT_EQ(of_kind(leaks, FindingKind::kLeakage).front()->row, 1U);
}

TEST(Audit, AClassOfOneGroupCannotBeChecked) {
  FeatureSetParts parts = training_part(generated_set(12, 6));
  for (std::uint32_t row = 0; row < parts.labels.size(); ++row) parts.groups.push_back(static_cast<std::int32_t>(row));
  std::fill_n(parts.groups.begin(), 6, 0);
  const AuditReport report = audit(FeatureSet(std::move(parts)), {});
  const auto alone = of_kind(report, FindingKind::kSingleExample);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_NE(alone.front()->text.find("examples of a single group"), std::string::npos) << alone.front()->text;
}

TEST(LabelAudit, AnExampleIsComparedWithoutItsGroup) {
  Matrix<float> rows(6, 2);
  const std::vector<std::pair<float, float>> points{{1, 0}, {1, 0}, {0, 1}, {-1, 0}, {-1, 0}, {-0.6F, -0.8F}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    rows(i, 0) = points[i].first;
    rows(i, 1) = points[i].second;
  }
  const std::vector<std::int32_t> labels{0, 0, 0, 1, 1, 1};
  const std::vector<std::int32_t> groups{0, 0, 1, 2, 3, 4};
  const LabelScores scores = score_labels(rows.view(), labels, 2, 1, groups);
  EXPECT_NEAR(scores.own[0], 0.0, 1e-6) << "of its class without both frames, (0, 1) is left";
  EXPECT_NEAR(scores.own[1], 0.0, 1e-6);
  EXPECT_NEAR(scores.own[2], 0.0, 1e-6);
  const LabelScores apart = score_labels(rows.view(), labels, 2, 1);
  EXPECT_GT(apart.own[0], 0.7);
  for (std::size_t i = 3; i < 6; ++i) EXPECT_DOUBLE_EQ(scores.own[i], apart.own[i]) << "groups of one change nothing";
  const LabelScores alone = score_labels(rows.view(), labels, 2, 1, std::vector<std::int32_t>{0, 0, 0, 1, 2, 3});
  EXPECT_EQ(alone.alone, (std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0}));
}

TEST(LearningCurve, CountsGroups) {
  SyntheticOptions options;
  options.classes = 6;
  options.train_rows = 8;
  options.test_rows = 1;
  options.dimension = 16;
  const FeatureSet set = make_synthetic(options);
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  std::vector<std::int32_t> groups;
  for (std::size_t i = 0; i < set.rows(); ++i)
    groups.push_back(static_cast<std::int32_t>(i / 3));  // 9 examples a class
  EXPECT_EQ(learning_curve(rows.view(), set.labels(), 6, 0, 1, {}).shots, 9U);
  EXPECT_EQ(learning_curve(rows.view(), set.labels(), 6, 0, 1, {}, groups).shots, 3U);
}

TEST(Audit, TooManyClassesToCompareAreRejectedAtOnce) {
  constexpr std::size_t kClasses = 50'001;
  Matrix<float> rows(kClasses, 1);
  std::fill(rows.data(), rows.data() + kClasses, 1.0F);
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.labels.resize(kClasses);
  std::iota(parts.labels.begin(), parts.labels.end(), 0);
  parts.source = "many";
  const FeatureSet set(std::move(parts));
  try {
    audit(set, {}, {});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("many: expected at most 50000 classes"), std::string::npos);
  }
}

}  // namespace
}  // namespace annulus
