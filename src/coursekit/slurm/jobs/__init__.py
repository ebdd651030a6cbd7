"""Job scripts: rendered for every site, submitted, followed, explained."""
