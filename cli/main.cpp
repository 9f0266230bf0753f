// The annulus program: finds the verb and runs it.
int main() { return 0; }
