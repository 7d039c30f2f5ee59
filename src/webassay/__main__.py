from webassay.cli import main

main()
