// The flag that signal handlers set.
#include "cli/terminal/interrupt.h"

#include <csignal>

#include "annulus/base/progress.h"

namespace annulus::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) { stop_requested = 1; }

void do_nothing(int) {}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void outlive_readers() {
  // A handler rather than SIG_IGN, which programs started from here would inherit.
  struct sigaction action {};
  action.sa_handler = do_nothing;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() { return stop_requested != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::kCancelled, kStopped);
}

}  // namespace annulus::cli
