"""What a command prints: progress, tables, the end after Ctrl-C. Start in console.py."""
