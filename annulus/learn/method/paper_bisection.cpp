// Algorithm 1 of the paper, line by line. Deviations from it are in interpolated_search.cpp.
#include "annulus/learn/method/paper_bisection.h"

namespace annulus {

double PaperBisection::run() {
  double left = options_.lowest;
  double right = options_.highest;
  double epsilon = (left + right) / 2.0;
  while (right - left >= options_.tolerance) {
    const double accuracy = probe_.train_and_evaluate(epsilon);
    if (accuracy > target_) {
      left = epsilon;  // increase epsilon
    } else {
      right = epsilon;  // decrease epsilon
    }
    probe_.record_range(left, right);
    epsilon = (left + right) / 2.0;
  }
  return epsilon;
}

}  // namespace annulus
