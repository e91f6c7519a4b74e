package confine

var openOSFolder = openRootFolder
