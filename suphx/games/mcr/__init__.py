"""Chinese Official mahjong (MCR) in Botzone's duplicate format: four private walls, 81 fans, 8 to win (docs/mcr.md)."""
