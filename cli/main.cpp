// The entry of the annulus program.
#include "cli/program.h"

int main(int count, char** arguments) { return annulus::cli::run_program(count, arguments); }
