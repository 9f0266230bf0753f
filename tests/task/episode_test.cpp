// Episodes: the right shape, no repetition, every class and row equally likely, clear rejections.
#include "annulus/task/episode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// `rows_of[c]` rows of class c.
FeatureSet set_of(const std::vector<std::size_t>& rows_of) {
  std::vector<std::int32_t> labels;
  for (std::size_t c = 0; c < rows_of.size(); ++c)
    labels.insert(labels.end(), rows_of[c], static_cast<std::int32_t>(c));
  Matrix<float> features(labels.size(), 2);
  std::fill_n(features.data(), labels.size() * 2, 1.0F);
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = std::move(labels);
  parts.source = "generated";
  return FeatureSet(std::move(parts));
}

TEST(EpisodeSampler, SamplesClassByClassWithoutReplacement) {
  const FeatureSet set = set_of({20, 9, 20, 30, 20, 20, 8});
  for (const std::size_t queries : {2U, 6U}) {  // few of many rows, and nearly all of the smaller classes
    const EpisodeSampler sampler(set, {4, 3, queries});
    for (std::uint32_t number = 0; number < 50; ++number) {
      const Episode episode = sampler.draw(1, number);
      ASSERT_EQ(episode.support.size(), 12U);
      ASSERT_EQ(episode.query.size(), 4 * queries);
      std::set<std::uint32_t> rows(episode.support.begin(), episode.support.end());
      rows.insert(episode.query.begin(), episode.query.end());
      EXPECT_EQ(rows.size(), 12 + 4 * queries);
      std::set<std::int32_t> classes;
      for (std::size_t c = 0; c < 4; ++c) {
        const std::int32_t label = set.labels()[episode.support[3 * c]];
        classes.insert(label);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(set.labels()[episode.support[3 * c + i]], label);
        for (std::size_t i = 0; i < queries; ++i) EXPECT_EQ(set.labels()[episode.query[queries * c + i]], label);
      }
      EXPECT_EQ(classes.size(), 4U);
    }
  }
}

TEST(EpisodeSampler, IsAPureFunctionOfSeedAndNumber) {
  const FeatureSet set = set_of({20, 20, 20, 20});
  const EpisodeSampler sampler(set, {2, 1, 3});
  EXPECT_EQ(sampler.draw(5, 7).query, sampler.draw(5, 7).query);
  EXPECT_NE(sampler.draw(5, 7).query, sampler.draw(5, 8).query);
  EXPECT_NE(sampler.draw(5, 7).query, sampler.draw(6, 7).query);
}

// 1000 episodes of 2 of 4 classes, one shot of 5 rows: each row is expected 100 times as support, with a standard
// deviation below 10.
TEST(EpisodeSampler, SamplesEveryExampleEquallyOften) {
  const FeatureSet set = set_of({5, 5, 5, 5});
  for (const std::size_t queries : {1U, 4U}) {
    const EpisodeSampler sampler(set, {2, 1, queries});
    std::vector<int> drawn(set.rows(), 0);
    for (std::uint32_t number = 0; number < 1000; ++number) {
      for (const std::uint32_t row : sampler.draw(3, number).support) ++drawn[row];
    }
    EXPECT_GT(*std::min_element(drawn.begin(), drawn.end()), 55);
    EXPECT_LT(*std::max_element(drawn.begin(), drawn.end()), 145);
  }
}

// As many queries in all as in balanced episodes, never more than a class has beside its shots.
TEST(EpisodeSampler, DrawsUnbalancedQueries) {
  const FeatureSet set = set_of({20, 20, 9, 20});
  const EpisodeSampler sampler(set, {3, 2, 7, {1.0}});
  std::set<std::vector<std::size_t>> counts;
  for (std::uint32_t number = 0; number < 200; ++number) {
    const Episode episode = sampler.draw(3, number);
    ASSERT_EQ(episode.support.size(), 6U);
    ASSERT_EQ(episode.query.size(), 21U);
    ASSERT_EQ(episode.query_counts.size(), 3U);
    std::set<std::uint32_t> rows(episode.support.begin(), episode.support.end());
    rows.insert(episode.query.begin(), episode.query.end());
    EXPECT_EQ(rows.size(), 27U);
    std::size_t next = 0;
    for (std::size_t way = 0; way < 3; ++way) {
      const std::int32_t label = set.labels()[episode.support[2 * way]];
      EXPECT_LE(episode.query_counts[way], label == 2 ? 7U : 18U);
      for (std::size_t i = 0; i < episode.query_counts[way]; ++i) EXPECT_EQ(set.labels()[episode.query[next++]], label);
    }
    EXPECT_EQ(next, 21U);
    counts.insert(episode.query_counts);
  }
  EXPECT_GT(counts.size(), 50U);
  EXPECT_EQ(sampler.draw(3, 5).query, sampler.draw(3, 5).query);
  EXPECT_EQ(EpisodeSampler(set, {3, 2, 7}).draw(3, 5).query_counts, (std::vector<std::size_t>{7, 7, 7}));
}

TEST(EpisodeSampler, LeavesOutSmallClassesAndRejectsTooFew) {
  const FeatureSet set = set_of({20, 3, 20});
  const EpisodeSampler sampler(set, {2, 1, 5});
  for (std::uint32_t number = 0; number < 20; ++number) {
    for (const std::uint32_t row : sampler.draw(0, number).support) EXPECT_NE(set.labels()[row], 1);
  }
  try {
    const EpisodeSampler rejected(set, {3, 1, 5});
    FAIL() << "expected a rejection";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_STREQ(error.what(), "generated: expected at least 3 classes of 6 examples (1 shots and 5 queries), found 2");
  }
  EXPECT_THROW(EpisodeSampler(set, {1, 1, 5}), Error);
  EXPECT_THROW(EpisodeSampler(set, {2, 0, 5}), Error);
}

TEST(EpisodeSampler, TakesOneExampleOfAGroup) {
  const std::size_t classes = 3;
  Matrix<float> features(12 * classes, 2);
  std::fill_n(features.data(), features.rows() * 2, 1.0F);
  FeatureSetParts parts = parts_of(std::move(features));
  for (std::size_t i = 0; i < 12 * classes; ++i) {
    parts.labels.push_back(static_cast<std::int32_t>(i / 12));
    parts.groups.push_back(static_cast<std::int32_t>(i / 3));  // four groups of three a class
  }
  parts.source = "videos";
  const FeatureSet set(std::move(parts));
  const EpisodeSampler sampler(set, {2, 2, 2});
  std::set<std::uint32_t> taken;
  for (std::uint32_t number = 0; number < 60; ++number) {
    const Episode episode = sampler.draw(0, number);
    std::set<std::int32_t> groups;
    for (const auto* rows : {&episode.support, &episode.query}) {
      for (const std::uint32_t row : *rows) {
        EXPECT_TRUE(groups.insert(set.groups()[row]).second);
        taken.insert(row);
      }
    }
  }
  EXPECT_EQ(taken.size(), set.rows()) << "every example of a group may be taken";
  EXPECT_THROW(EpisodeSampler(set, {2, 2, 3}), Error) << "there are four groups a class";
}

}  // namespace
}  // namespace annulus
