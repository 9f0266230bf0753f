// The map, the findings, and which of them are still worth showing.
#include "studio_engine/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/made_snapshot.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

// Photo 100 looks like a dog.
PhotosOfClasses one_mislabelled() {
  PhotosOfClasses classes;
  for (int i = 0; i < 10; ++i) {
    classes["cat"].push_back(i);
    classes["dog"].push_back(101 + i);
    classes["owl"].push_back(200 + i);
  }
  classes["cat"].push_back(100);
  return classes;
}

ProjectState state_of(const PhotosOfClasses& classes) {
  ProjectState state;
  Change change;
  for (const auto& [name, photos] : classes) {
    change.operations.push_back({Operation::Kind::kAddClass, {}, {}, name});
    for (const int number : photos) {
      change.photos.push_back({id_of_photo(number), id_of_photo(number) + std::string(48, '0'), "png", "a.png", {}});
      change.operations.push_back({Operation::Kind::kPut, id_of_photo(number), {}, name});
    }
  }
  state.apply(change);
  return state;
}

bool names_mislabelled(const std::vector<AuditFinding>& found) {
  return std::any_of(found.begin(), found.end(), [](const AuditFinding& finding) {
    return finding.kind == FindingKind::kMislabelled && finding.class_name == "cat" && finding.other_class == "dog";
  });
}

TEST(Analysis, DrawsTheMapThenFindsFaults) {
  Analysis analysis(1);
  EXPECT_FALSE(analysis.due("a"));
  analysis.request();
  EXPECT_TRUE(analysis.due("a"));
  int drawn = 0;
  analysis.run(made_snapshot("a", one_mislabelled()),
               [&] {
                 ++drawn;
                 ASSERT_NE(analysis.map(), nullptr);
                 EXPECT_EQ(analysis.findings(), nullptr);
               },
               {});
  EXPECT_EQ(drawn, 1);
  EXPECT_FALSE(analysis.due("a"));
  EXPECT_TRUE(analysis.due("b"));
  const auto map = analysis.map();
  EXPECT_EQ(map->number, 1U);
  EXPECT_EQ(map->class_names, (std::vector<std::string>{"cat", "dog", "owl"}));
  EXPECT_EQ(map->class_photos, (std::vector<std::size_t>{11, 10, 10}));
  EXPECT_EQ(map->map.points.size(), 3U);
  EXPECT_EQ(map->map.rows.size(), 31U);
  EXPECT_EQ(map->photos[10], id_of_photo(100));

  const auto findings = analysis.findings();
  EXPECT_EQ(findings->photos, map);
  ASSERT_EQ(findings->confused.size(), 1U);
  EXPECT_EQ(findings->confused[0].label, 0);
  EXPECT_EQ(findings->confused[0].taken_for, 1);
  EXPECT_EQ(findings->confused[0].rows, std::vector<std::uint32_t>{10});
}

TEST(Analysis, ShowsWhatIsStillTrue) {
  Analysis analysis(1);
  const PhotosOfClasses classes = one_mislabelled();
  analysis.run(made_snapshot("a", classes), [] {}, {});
  const auto findings = analysis.findings();
  ProjectState state = state_of(classes);
  const ScratchFolder folder;
  ConfirmedFindings confirmed(folder / "confirmed.jsonl");
  EXPECT_TRUE(names_mislabelled(actionable_findings(*findings, state, confirmed, 300)));
  EXPECT_TRUE(actionable_findings(*findings, state, confirmed, 0).empty());
  const Change moved{Change::Kind::kDo, "", {{Operation::Kind::kPut, id_of_photo(100), "cat", "dog"}}, {}};
  state.apply(moved);
  EXPECT_FALSE(names_mislabelled(actionable_findings(*findings, state, confirmed, 300)));
  state.apply(state.next_undo());
  EXPECT_TRUE(names_mislabelled(actionable_findings(*findings, state, confirmed, 300)));
  // Right in its class, it is not shown again; it was never right in another.
  const ConfirmedFinding right{"mislabelled", id_of_photo(100), "cat", ""};
  confirmed.set({"mislabelled", id_of_photo(100), "owl", ""}, true);
  EXPECT_TRUE(names_mislabelled(actionable_findings(*findings, state, confirmed, 300)));
  confirmed.set(right, true);
  EXPECT_FALSE(names_mislabelled(actionable_findings(*findings, state, confirmed, 300)));
}

TEST(Analysis, FindsPhotosToLookAtBesideASuspect) {
  Analysis analysis(1);
  analysis.run(made_snapshot("a", one_mislabelled()), [] {}, {});
  const auto findings = analysis.findings();
  const auto suspect = findings->comparisons.find(10);  // photo 100, the last of cat
  ASSERT_NE(suspect, findings->comparisons.end());
  ASSERT_TRUE(suspect->second.own && suspect->second.other);
  EXPECT_NE(*suspect->second.own, 10U);
  EXPECT_EQ(findings->photos->labels[*suspect->second.own], 0);
  EXPECT_EQ(findings->photos->labels[*suspect->second.other], 1);
}

TEST(Analysis, NumbersGrow) {
  Analysis analysis(1);
  for (const std::uint64_t number : {1U, 2U}) {
    analysis.run(made_snapshot("a", one_mislabelled()), [] {}, {});
    EXPECT_EQ(analysis.map()->number, number);
    EXPECT_EQ(analysis.findings()->number, number);
  }
}

TEST(Analysis, CanBeCancelled) {
  Analysis analysis(1);
  analysis.request();
  expect_error(ErrorKind::kCancelled, "stopped", [&] {
    analysis.run(
        made_snapshot("a", one_mislabelled()), [] {}, [](const Progress&) { return false; });
  });
  EXPECT_NE(analysis.map(), nullptr);
  EXPECT_EQ(analysis.findings(), nullptr);
  EXPECT_TRUE(analysis.due("a"));
}

}  // namespace
}  // namespace annulus::studio
