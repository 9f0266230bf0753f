// Which examples of a pool to label next: from typical ones, when nothing is labelled, to those a model is unsure of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"

namespace annulus {

// What is known of the rows of a pool before they are labelled.
struct PoolBelief {
  std::vector<std::int32_t> guess;    // the most probable class of each row
  std::vector<float> uncertainty;     // 1 less the lead of its probability over the next, 0 to 1
  std::vector<std::uint8_t> unknown;  // whether it resembles no class; empty: nobody can say
  double false_reject = 0.0;          // the fraction of known inputs among which that is said in error
};

// Examples that have labels already. Labels count classes from 0.
struct PoolKnowledge {
  Matrix<float> features{};            // raw rows; may be empty
  std::vector<std::int32_t> labels{};  // of each
  // What a model says; without one, discriminant analysis of the labelled rows says it, if they have two classes.
  std::optional<PoolBelief> belief{};
};

// The belief of a model about raw rows. Its unknown inputs are those that it rejects at `false_reject`, if it may.
PoolBelief belief_of(const Model& model, ConstMatrixView<float> rows, double false_reject, int threads);
// A model's training examples, as far as it keeps them, and its belief.
PoolKnowledge knowledge_of(const Model& model, ConstMatrixView<float> pool, double false_reject, int threads);

// Why a row was chosen.
enum class LabelReason : std::uint8_t {
  kTypical,    // it stands for many rows that no label is near
  kUncertain,  // it and those it stands for are about as likely of another class
  kNewClass,   // it may be of a class that the model does not know
};
std::string_view to_string(LabelReason reason);

struct LabelChoice {
  std::uint32_t row = 0;
  LabelReason reason = LabelReason::kTypical;
  std::optional<std::int32_t> guess{};  // absent where nothing is known
  double uncertainty = 1.0;
  double gain = 0.0;           // what it adds to what the labelled rows cover, in rows of the pool
  std::size_t stands_for = 0;  // rows of the pool that no other labelled or chosen row is nearer to
};

struct LabelNextOptions {
  std::size_t count = 20;
  double new_class_fraction = 0.25;  // of the choices at most, for rows that resemble no class
  int threads = 0;                   // 0: all processors
};

// The rows of the pool to label next, the most useful first: greedily those whose labels say most about the rows that
// the labelled ones do not cover, each of them weighted by its uncertainty. Where more rows resemble no class than
// false rejections explain, a part of the choices is made among these alone. `paths` is empty or has one for each row
// of the pool. Neither the order of rows nor the number of threads changes the choice. Costs products of all pairs of
// rows in blocks; memory: a copy of all rows and a kilobyte for each. Throws Error{kUsage} for a fraction outside [0,
// 1], Error{kInput} for an empty pool and for rows of different dimensions, Error{kCancelled} when progress asks to
// stop.
std::vector<LabelChoice> label_next(Matrix<float> pool, std::span<const std::string> paths,
                                    const PoolKnowledge& knowledge, const LabelNextOptions& options,
                                    const ProgressCallback& progress = {});

}  // namespace annulus
