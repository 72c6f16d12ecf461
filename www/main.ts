// Starts the application.

import './elements/kernel-scope.js';
